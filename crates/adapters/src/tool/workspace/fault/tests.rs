//! The system's errors in plain words.

use super::system;
use deputize_core::code::TOOL_FAILED;
use rustix::io::Errno;

#[test]
fn errors_of_the_system_are_said_plainly() {
    let table = [
        (Errno::NOSPC, "the disk is full"),
        (Errno::DQUOT, "the disk quota is used up"),
        (Errno::ROFS, "the file system is read-only"),
        (Errno::ACCESS, "the system gives no permission"),
        (Errno::PERM, "the system gives no permission"),
        (Errno::NAMETOOLONG, "too long"),
        (Errno::TXTBSY, "a program is running from it"),
        (Errno::FBIG, "too large for the file system"),
        (Errno::NOENT, "does not exist any more"),
        (Errno::IO, "Input/output error"),
    ];
    for (error, words) in table {
        let failure = system("`a`", "written", error);
        assert_eq!(failure.code, TOOL_FAILED);
        assert!(failure.why.starts_with("`a` could not be written: "), "{}", failure.why);
        assert!(failure.why.contains(words), "{}", failure.why);
    }
}

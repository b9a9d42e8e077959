//! Tests of where an address leads: keys are sent by this.

use super::{host, is_loopback, is_public};

#[test]
fn hosts_are_read_as_a_client_reads_them() {
    let table = [
        ("https://api.openai.com/v1", "api.openai.com", true, false),
        ("https://api.openai.com:443/v1", "api.openai.com", true, false),
        ("http://api.openai.com/v1", "api.openai.com", false, false),
        ("https://api.openai.com.evil.example/v1", "api.openai.com.evil.example", false, false),
        ("https://evil.example/api.openai.com", "evil.example", false, false),
        ("http://127.0.0.1:8080/v1", "127.0.0.1", false, true),
        ("http://[::1]:8080/v1", "::1", false, true),
        ("http://localhost/v1", "localhost", false, true),
        ("http://localhost.evil.example/v1", "localhost.evil.example", false, false),
        ("http://10.0.0.1/v1", "10.0.0.1", false, false),
    ];
    let openai = crate::loader::kinds::named("openai").unwrap();
    for (url, expected, public, loopback) in table {
        assert_eq!((host(url), is_public(url, openai), is_loopback(url)), (expected, public, loopback), "{url}");
    }
}

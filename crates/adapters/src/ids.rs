//! Ids of new trees.

use deputize_core::id::RunId;
use deputize_runtime::port::Ids;
use uuid::Uuid;

const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Ids of ten characters that are easy to read aloud and to tell apart by their first few.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn run(&self) -> RunId {
        // The last 62 bits of a version 7 UUID are random; ten characters use 50 of them.
        let random = Uuid::now_v7().as_u128();
        let letter = |at: u32| {
            let index = usize::try_from((random >> (5 * at)) & 31).unwrap_or(0);
            LETTERS.get(index).copied().map_or('0', char::from)
        };
        RunId::new((0..10).map(letter).collect::<String>())
    }
}

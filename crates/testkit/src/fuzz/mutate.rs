//! Seeded mutations of a corpus: the same seed gives the same inputs on every machine.

/// Makes inputs from a corpus.
pub struct Mutator {
    state: u64,
    corpus: Vec<Vec<u8>>,
    words: Vec<&'static str>,
}

/// The most changes of one input.
const CHANGES: u64 = 6;
/// Bytes that mean something in YAML, JSON or text.
const ODD: &[u8] = b"\0\n\r\t \"':-{}[],#&*!|>%@`\\\xff\xc3\xed";
/// Numbers that few expect, and what stands in their place.
const NUMBERS: [&str; 7] = ["0", "-1", "1e400", "18446744073709551616", "null", "\"\"", "NaN"];
/// The longest input, in bytes.
const LONGEST: usize = 64 * 1024;

impl Mutator {
    /// A source of inputs. `words`: texts that mean something to the target, put in now and then.
    ///
    /// # Panics
    /// The corpus is empty.
    pub fn new(seed: u64, corpus: Vec<Vec<u8>>, words: &[&'static str]) -> Mutator {
        assert!(!corpus.is_empty(), "a corpus has at least one input");
        Mutator { state: seed, corpus, words: words.to_vec() }
    }
    /// A number below `n` (splitmix64).
    pub fn below(&mut self, n: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % (n.max(1) as u64)).unwrap_or(0)
    }
    /// The next input.
    pub fn input(&mut self) -> Vec<u8> {
        let mut bytes = self.seed().to_vec();
        let most = usize::try_from(CHANGES).unwrap_or(1);
        for _ in 0..=self.below(most) {
            self.change(&mut bytes);
        }
        bytes.truncate(LONGEST);
        bytes
    }
    fn seed(&mut self) -> &[u8] {
        let at = self.below(self.corpus.len());
        self.corpus.get(at).map_or(&[], Vec::as_slice)
    }
    fn span(&mut self, len: usize) -> std::ops::Range<usize> {
        let from = self.below(len + 1);
        let most = (len - from).min(1 << self.below(10));
        from..from + self.below(most + 1)
    }
    fn change(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        match self.below(10) {
            0 => {
                let bit = 1 << self.below(8);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= bit;
                }
            }
            1 => {
                let pick = self.below(ODD.len());
                bytes.insert(at, ODD.get(pick).copied().unwrap_or(0));
            }
            2 => {
                let span = self.span(bytes.len());
                drop(bytes.drain(span));
            }
            3 => {
                let span = self.span(bytes.len());
                let piece = bytes.get(span).unwrap_or_default().to_vec();
                drop(bytes.splice(at..at, piece));
            }
            4 => {
                let other = self.seed().to_vec();
                let span = self.span(other.len());
                drop(bytes.splice(at..at, other.get(span).unwrap_or_default().to_vec()));
            }
            5 | 6 => {
                let pick = self.below(self.words.len());
                let word = self.words.get(pick).copied().unwrap_or("\n");
                drop(bytes.splice(at..at, word.bytes()));
            }
            7 => bytes.truncate(at),
            8 => self.line(bytes),
            _ => {
                let pick = self.below(NUMBERS.len());
                let number = NUMBERS.get(pick).copied().unwrap_or("0");
                let span = self.span(bytes.len());
                drop(bytes.splice(span, number.bytes()));
            }
        }
    }
    /// Moves, doubles or drops a line.
    fn line(&mut self, bytes: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        if lines.is_empty() {
            return;
        }
        let from = self.below(lines.len());
        let line = if self.below(2) == 0 { lines.remove(from) } else { lines.get(from).cloned().unwrap_or_default() };
        if self.below(3) > 0 {
            let to = self.below(lines.len() + 1);
            lines.insert(to, line);
        }
        *bytes = lines.concat();
    }
}

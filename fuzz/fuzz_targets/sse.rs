//! `deputize_testkit::fuzz::sse` under libFuzzer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| deputize_testkit::fuzz::sse(bytes));

//! `deputize_testkit::fuzz::event` under libFuzzer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| deputize_testkit::fuzz::event(bytes));

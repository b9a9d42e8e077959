//! Tests of inline_tests.

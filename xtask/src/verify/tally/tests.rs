//! Tests of tally.

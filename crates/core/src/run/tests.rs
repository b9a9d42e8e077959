//! Tests of the run.

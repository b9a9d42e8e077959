//! Tests of ignored.

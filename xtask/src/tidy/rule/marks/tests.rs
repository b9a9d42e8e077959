//! Tests of marks.

//! Tests of sleeps.

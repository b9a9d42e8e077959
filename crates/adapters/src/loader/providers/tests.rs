//! Tests of where keys may go.

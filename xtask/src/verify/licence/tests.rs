//! Tests of licence.

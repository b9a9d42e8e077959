//! Tests of no_async.

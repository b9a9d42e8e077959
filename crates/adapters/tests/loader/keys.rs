//! Tests of the loader: keys, in the making.

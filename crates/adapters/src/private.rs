//! Files whose content is a secret by its name: one list for the tools, which let no agent read them, and for the loader,
//! which puts none of them into a request. Owns the list, not what is done about it.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Files of one kind.
pub(crate) struct Private {
    /// Patterns in lower case, over a path without a leading `/`.
    pub(crate) paths: &'static [&'static str],
    /// Paths that are none after all.
    pub(crate) except: &'static [&'static str],
    /// Why.
    pub(crate) reason: &'static str,
}

/// Every kind.
pub(crate) const PRIVATE: [Private; 2] = [
    Private {
        paths: &["**/.env", "**/.env.*"],
        except: &["**/.env.example"],
        reason: "environment files hold secrets",
    },
    Private {
        paths: &[
            "**/id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk,xmss}",
            "**/*.{pem,key,ppk,p8,p12,pfx,jks,keystore}",
        ],
        except: &[],
        reason: "private keys are secrets",
    },
];

/// Why a file of this name is private; none when it is not. Letter case is ignored.
pub(crate) fn reason(name: &str) -> Option<&'static str> {
    let small = name.to_lowercase();
    let hit = |p: &&Private| {
        set(p.paths).is_ok_and(|paths| paths.is_match(&small))
            && !set(p.except).is_ok_and(|except| except.is_match(name))
    };
    PRIVATE.iter().find(hit).map(|p| p.reason)
}

/// Patterns in which `*` stops at `/`.
///
/// # Errors
/// A pattern is none.
pub(crate) fn set(patterns: &[&str]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(GlobBuilder::new(pattern).literal_separator(true).build()?);
    }
    set.build()
}

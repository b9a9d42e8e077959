//! The benchmarks: `cargo run --release -p deputize-bench -- [--quick] [NAME...]` prints Markdown tables. README.md holds the
//! figures and what they mean. Owns what is measured and how; owns no code of the product.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the tables are what this program is for")]

mod advance;
mod append;
mod bare;
mod engine;
mod load;
mod longer;
mod measure;
mod raw;
mod render;
mod resume;
mod scene;
mod served;
mod stage;
mod table;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use measure::Fault;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::ExitCode;
use table::Table;

/// One benchmark.
struct Bench {
    name: &'static str,
    about: &'static str,
    run: for<'a> fn(&'a Plan) -> Running<'a>,
}

type Running<'a> = Pin<Box<dyn Future<Output = Result<Vec<Table>, Fault>> + 'a>>;

const ALL: &[Bench] = &[
    Bench { name: "step", about: "engine CPU per step against the bare loop", run: |plan| Box::pin(engine::run(plan)) },
    Bench { name: "append", about: "durable appends against a plain file", run: |plan| Box::pin(append::run(plan)) },
    Bench { name: "advance", about: "fold and advance of long logs", run: |plan| Box::pin(advance::run(plan)) },
    Bench { name: "render", about: "rendering a request; the log's size", run: |plan| Box::pin(render::run(plan)) },
    Bench { name: "load", about: "loading thousands of agent files", run: |plan| Box::pin(load::run(plan)) },
    Bench { name: "resume", about: "taking up a tree of 10,000 events", run: |plan| Box::pin(resume::run(plan)) },
];

/// Measures Deputize and prints Markdown tables.
#[derive(Parser)]
struct Args {
    /// Small sizes and few rounds: shows that the benchmarks work, not how fast anything is.
    #[arg(long)]
    quick: bool,
    /// Rounds; each performs every variant once, in another order.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Where stores and files are made and removed: the disk that is measured.
    #[arg(long, default_value = "target")]
    dir: PathBuf,
    /// Which; all if none is named.
    #[arg(value_parser = PossibleValuesParser::new(ALL.iter().map(|bench| bench.name)))]
    names: Vec<String>,
}

/// How much is measured.
struct Plan {
    quick: bool,
    rounds: usize,
    dir: PathBuf,
}

impl Plan {
    /// A size, or the small one of a quick run.
    fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
    /// A folder on the measured disk that ends with its handle.
    fn folder(&self) -> Result<tempfile::TempDir, Fault> {
        Ok(tempfile::Builder::new().prefix("deputize-bench-").tempdir_in(&self.dir)?)
    }
}

fn main() -> ExitCode {
    match measure_all(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("deputize-bench: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn measure_all(args: &Args) -> Result<(), Fault> {
    let rounds = if args.quick { 2 } else { args.rounds.max(1) };
    let plan = Plan { quick: args.quick, rounds, dir: made(&args.dir)? };
    // The same runtime as that of the command line.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if cfg!(debug_assertions) {
        println!("A debug build: these figures say nothing. Use `--release`.\n");
    }
    println!("Median (least to most) of {rounds} interleaved rounds. CPU is that of all threads.");
    for bench in ALL.iter().filter(|b| args.names.is_empty() || args.names.iter().any(|n| n == b.name)) {
        println!("\n## {}: {}", bench.name, bench.about);
        for table in runtime.block_on((bench.run)(&plan))? {
            println!("\n{table}");
        }
    }
    Ok(())
}

fn made(dir: &Path) -> Result<PathBuf, Fault> {
    std::fs::create_dir_all(dir)?;
    Ok(dir.to_path_buf())
}

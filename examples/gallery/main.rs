//! Draws specimens of every kind of chart into a folder, to be looked at: `cargo run --example gallery -- FOLDER`.

mod specimens;

use std::path::PathBuf;
use std::time::Instant;

use analyst::insight::chart::{
    Annotation, ChartKind, ChartSpec, Data, Fonts, Point, ReferenceLine, Scale, Series, Unit, draw,
};
use analyst::text::Language::{self, Chinese, English};
use analyst::time::Grain;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder: PathBuf = std::env::args().nth(1).ok_or("usage: gallery FOLDER")?.into();
    std::fs::create_dir_all(&folder)?;
    let start = Instant::now();
    let fonts = Fonts::embedded();
    println!("fonts {:?}", start.elapsed());
    for (name, spec) in specimens::all() {
        let start = Instant::now();
        match draw(&spec, fonts) {
            Ok(drawn) => {
                println!(
                    "{name}: {:?}, {} kB of SVG, {} kB of PNG",
                    start.elapsed(),
                    drawn.svg.len() / 1024,
                    drawn.png.len() / 1024
                );
                std::fs::write(folder.join(format!("{name}.svg")), &drawn.svg)?;
                std::fs::write(folder.join(format!("{name}.png")), &drawn.png)?;
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
    Ok(())
}

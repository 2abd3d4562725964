//! What a word counts in each field, by how long the field is.

use std::sync::{Arc, OnceLock};

use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::Field;

use crate::index::schema::Fields;
use crate::rank::corpus_stats::CorpusStats;
use crate::rank::settings::{SHIPPED, Settings};

/// Which documents are scored, and by which number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scored {
    /// Sections, by the number of the document.
    Sections,
    /// Pages, by the number of the page.
    Pages,
}

impl Scored {
    /// How soon more of the same word stops counting.
    pub(crate) const fn k1(self, settings: &Settings) -> f32 {
        match self {
            Self::Sections => settings.k1_section,
            Self::Pages => settings.k1_page,
        }
    }
}

/// A field and what a word in it counts.
#[derive(Debug)]
pub(crate) struct Bm25Field {
    /// What is scored by it.
    pub(crate) scored: Scored,
    pub(crate) field: Field,
    pub(crate) weight: f32,
    /// How much the length of the field counts, 0 to 1.
    b: f32,
    average_length: f32,
    /// How soon more of the same word stops counting.
    pub(crate) k1: f32,
    /// What a word counts.
    pub(crate) by_length: ByLength,
    /// Where a word that counts in full has half of its worth.
    pub(crate) saturation: ByLength,
}

/// For all lengths that the index tells apart.
pub(crate) type ByLength = [f32; 256];

impl Bm25Field {
    /// What a word in a text of some length counts: more in a short one.
    pub(crate) fn counts(&self, length: f32) -> f32 {
        counts(length, self.average_length, self.b)
    }

    /// Where a word that counts a share has half of its worth.
    pub(crate) fn saturation_of(&self, share: f32) -> ByLength {
        self.by_length.map(|by_length| self.k1 / (share * by_length))
    }
}

fn counts(length: f32, average: f32, b: f32) -> f32 {
    1.0 / (1.0 - b + b * length / average)
}

/// The fields of a snapshot as they are weighed by the shipped settings: reckoned with the first question, for all.
#[derive(Debug, Default)]
pub(crate) struct ShippedBm25 {
    sections: OnceLock<Arc<[Bm25Field]>>,
    pages: OnceLock<Arc<[Bm25Field]>>,
}

impl ShippedBm25 {
    /// The fields a kind is searched in. The first tells how rare a word is.
    pub(crate) fn or_by(
        &self,
        settings: &Settings,
        scored: Scored,
        fields: &Fields,
        stats: &CorpusStats,
    ) -> Arc<[Bm25Field]> {
        let weigh = || weighed(settings, scored, fields, stats);
        if *settings != SHIPPED {
            return weigh();
        }
        let known = match scored {
            Scored::Sections => &self.sections,
            Scored::Pages => &self.pages,
        };
        Arc::clone(known.get_or_init(weigh))
    }
}

fn weighed(set: &Settings, scored: Scored, fields: &Fields, stats: &CorpusStats) -> Arc<[Bm25Field]> {
    let all: &[(Field, f32, f32)] = match scored {
        Scored::Sections => &[
            (fields.body, set.body, set.b_body),
            (fields.heading, set.heading, set.b_short),
            (fields.code, set.code, set.b_body),
        ],
        Scored::Pages => &[
            (fields.whole, set.whole, set.b_whole),
            (fields.title, set.title, set.b_short),
            (fields.path, set.path, set.b_short),
            (fields.description, set.description, set.b_short),
            (fields.headings, set.headings, set.b_whole),
            (fields.link, set.link, set.b_link),
        ],
    };
    let of = match scored {
        Scored::Sections => stats.sections,
        Scored::Pages => stats.pages.len(),
    };
    let k1 = scored.k1(set);
    let weighed = |(field, weight, b): (Field, f32, f32)| {
        let average_length = stats.average_length(field, of);
        let length = |id: usize| FieldNormReader::id_to_fieldnorm(id as u8) as f32;
        let by_length: ByLength = std::array::from_fn(|id| counts(length(id), average_length, b));
        let saturation = by_length.map(|by_length| k1 / by_length);
        Bm25Field { scored, field, weight, b, average_length, k1, by_length, saturation }
    };
    all.iter().copied().filter(|(_, weight, _)| *weight > 0.0).map(weighed).collect()
}

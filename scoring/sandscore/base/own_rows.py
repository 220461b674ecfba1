"""Our own rows of every table by entry-point group: written by ``python -m tools.make_rows``, never by hand."""

OWN_ROWS = {
    "sandscore.measures": {
        "token": "sandscore.measures.challenge_measures:TokenMatch",
        "instance_strict": "sandscore.measures.challenge_measures:StrictMatch",
        "instance_relax": "sandscore.measures.challenge_measures:RelaxedMatch",
        "hipaa_phi": "sandscore.measures.challenge_measures:HipaaMatch",
        "hipaa_phi_only": "sandscore.measures.challenge_measures:HipaaOnlyMatch",
        "iou": "sandscore.measures.iou:IntersectionOverUnion",
        "overlap": "sandscore.measures.overlap_credit:OverlapCredit",
        "semeval": "sandscore.measures.semeval_schemas:SemevalSchemas",
    },
    "sandscore.formats": {
        "ours": "sandscore.formats.sandscore_json:OwnFormat",
        "brat": "sandscore.formats.brat_standoff:BratFormat",
        "conll": "sandscore.formats.conll_columns:ConllFormat",
        "conll-biluo": "sandscore.formats.conll_columns:ConllBiluoFormat",
        "conll-iobes": "sandscore.formats.conll_columns:ConllIobesFormat",
        "conll-io": "sandscore.formats.conll_columns:ConllIoFormat",
        "i2b2": "sandscore.formats.i2b2_xml:I2b2Format",
        "presidio": "sandscore.formats.presidio_json:PresidioFormat",
        "nlpsandbox-bundle": "sandscore.formats.nlpsandbox_bundle:NlpsandboxBundleFormat",
        "nlpsandbox-list": "sandscore.formats.nlpsandbox_bundle:NlpsandboxListFormat",
        "neleval": "sandscore.formats.neleval_tsv:NelevalFormat",
    },
    "sandscore.profiles": {
        "nlpsandbox-client": "sandscore.profiles.nlpsandbox.nlpsandbox_profile:NlpsandboxClientScorer",
        "i2b2": "sandscore.profiles.i2b2.i2b2_profile:I2b2Scorer",
        "presidio": "sandscore.profiles.presidio.presidio_profile:PresidioScorer",
        "span-labels": "sandscore.profiles.span_labels.span_labels_profile:SpanLabelsScorer",
        "neleval": "sandscore.profiles.neleval.neleval_profile:NelevalScorer",
        "semeval": "sandscore.profiles.semeval.semeval_profile:NervaluateScorer",
        "tab": "sandscore.profiles.tab.tab_profile:TabScorer",
        "tab-2022": "sandscore.profiles.tab.tab_profile:Tab2022Scorer",
    },
    "sandscore.engines": {
        "docker": "sandscore.containers.engines.docker.docker_row:DockerRow",
    },
    "sandscore.homes": {
        "sqlite": "sandscore.queue.homes.sqlite.sqlite_row:SqliteRow",
        "synapse": "sandscore.queue.homes.synapse.synapse_row:SynapseRow",
    },
}

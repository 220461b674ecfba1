#!/usr/bin/env nextflow
// Predictions of several teams against gold, to score cards and a board:
//   nextflow run main.nf --task date --gold date.json --notes notes.json --predictions 'teams/*.json'
// Exit code 75 is infrastructure and is tried again; every other one would fail again.
nextflow.enable.dsl = 2

params.task = null
params.gold = null
params.notes = null
params.predictions = null
params.out = 'results'

process SCORE {
    tag "${predictions.baseName}"
    errorStrategy { task.exitStatus == 75 && task.attempt <= 3 ? 'retry' : 'ignore' }
    maxRetries 3
    publishDir "${params.out}/cards", mode: 'copy'

    input:
    path predictions
    path gold, stageAs: 'reference/*'
    path notes

    output:
    path "cards/${predictions.baseName}.json"

    script:
    """
    mkdir cards
    sandscore score '${params.task}' --gold '${gold}' --predictions '${predictions}' --notes '${notes}' \\
        --submission '${predictions.baseName}' -o 'cards/${predictions.baseName}.json'
    """
}

process RANK {
    publishDir params.out, mode: 'copy'

    input:
    path cards

    output:
    path 'board.json'

    script:
    """
    sandscore rank ${cards} -o board.json
    """
}

workflow {
    scored = SCORE(Channel.fromPath(params.predictions), file(params.gold), file(params.notes))
    RANK(scored.collect())
}

#!/usr/bin/env cwl-runner
# Run, then score: two steps, so that the one that runs the image never sees gold.
cwlVersion: v1.2
class: Workflow
label: Run an annotator and score it
inputs:
  task: string
  image: string
  notes: File
  gold: File
  team: string?
steps:
  run:
    run: run.cwl
    in: {task: task, image: image, notes: notes}
    out: [predictions, record]
  score:
    run: score.cwl
    in:
      task: task
      gold: gold
      notes: notes
      team: team
      predictions: {source: [run/predictions], pickValue: the_only_non_null}
    out: [card]
outputs:
  card: {type: File?, outputSource: score/card}
  record: {type: File?, outputSource: run/record}

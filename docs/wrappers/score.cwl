#!/usr/bin/env cwl-runner
# Predictions against gold, to a score card. Nothing of a participant's is run.
cwlVersion: v1.2
class: CommandLineTool
label: Validate predictions and score them
baseCommand: [sandscore, score]
arguments: [-o, card.json, --format, json]
inputs:
  task:
    type: string
    doc: One of those that `sandscore tasks` lists.
    inputBinding: {position: 1}
  gold:
    type: File
    inputBinding: {prefix: --gold}
  predictions:
    type: File
    inputBinding: {prefix: --predictions}
  notes:
    type: File
    inputBinding: {prefix: --notes}
  team:
    type: string?
    inputBinding: {prefix: --team}
  submission:
    type: string?
    inputBinding: {prefix: --submission}
outputs:
  card:
    type: File?
    outputBinding: {glob: card.json}
stdout: printed.json
# 65: the participant's data, 78: the organiser's, 2 and 66: how it was called. Trying again helps none of them.
permanentFailCodes: [2, 65, 66, 70, 78]
# 75: infrastructure. Trying again may help.
temporaryFailCodes: [75]

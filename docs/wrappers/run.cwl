#!/usr/bin/env cwl-runner
# An image over notes, to predictions. The image is run by sandscore, isolated and limited, not by the CWL engine:
# do not add a DockerRequirement. This step is never given gold.
cwlVersion: v1.2
class: CommandLineTool
label: Run an annotator over notes
baseCommand: [sandscore, run]
arguments: [-o, run, --format, json]
requirements:
  NetworkAccess: {networkAccess: true}
inputs:
  task:
    type: string
    inputBinding: {position: 1}
  image:
    type: string
    doc: By digest, as repository@sha256:…
    inputBinding: {prefix: --image}
  notes:
    type: File
    inputBinding: {prefix: --notes}
outputs:
  predictions:
    type: File?
    outputBinding: {glob: run/predictions.json}
  record:
    type: File?
    outputBinding: {glob: run/run.json}
stdout: printed.json
permanentFailCodes: [2, 65, 66, 70, 78]
temporaryFailCodes: [75]

"""Inputs from memory: decoded JSON, DataFrames, spans by note and documents, written as files of annotations are."""

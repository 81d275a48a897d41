"""What the index's database holds. Of what was said it holds which words stand in which node, and not the text."""

from __future__ import annotations

from typing import Final

NUMBER: Final = 1
"""Raised with every change of what stands below."""

SCHEMA: Final = """
create table file (id integer primary key, shelf text not null, name text not null, size integer not null,
    unique (shelf, name));
create table node (id integer primary key, digest blob not null unique, parent blob, entry text not null,
    file integer not null, byte integer not null, size integer not null, is_told integer not null default 0);
create index node_entry on node (entry);
create index node_file on node (file);
create index node_untold on node (file, byte) where is_told = 0;
create table settled (session text not null, entry text not null, leaf blob not null,
    primary key (session, entry, leaf)) without rowid;
create table covered (digest blob primary key, state text not null, plan text not null, number integer not null)
    without rowid;
create index covered_number on covered (number);
create table forgotten (digest blob primary key, parent blob) without rowid;
create table waiting (missing text not null, name text not null, primary key (missing, name)) without rowid;
create table waiting_node (digest blob not null, name text not null, primary key (digest, name)) without rowid;
create virtual table said using fts5 (text, content='', tokenize='unicode61 remove_diacritics 2');
"""

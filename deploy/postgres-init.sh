#!/bin/sh
# The first start of PostgreSQL's container runs this: a database, and the role that owns it.
set -eu
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" \
  --set password="$POSTGRES_PETSTORE_PASSWORD" <<'SQL'
create role petstore login password :'password';
create database petstore owner petstore encoding 'UTF8' template template0;
revoke all on database petstore from public;
SQL

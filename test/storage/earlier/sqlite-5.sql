alter table api_keys add column read_only integer not null default 0;
alter table idempotency_keys add column added_as text;
pragma user_version = 5;

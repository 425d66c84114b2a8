alter table petstore_schema add column compatible bigint;
update petstore_schema set version = 5, compatible = 3;
alter table api_keys add column read_only bigint not null default 0;
alter table idempotency_keys add column added_as text;
-- counters is behind: this program takes its ids only from the sequences
update counters set value = 2 where name = 'pets';
create sequence pets_id;
create sequence api_keys_id;
select setval('pets_id', 3), setval('api_keys_id', 1);
create function take_ids() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger take_ids before update on counters for each row execute function take_ids();
create function refuse_import() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger refuse_import before insert on pets for each statement execute function refuse_import();

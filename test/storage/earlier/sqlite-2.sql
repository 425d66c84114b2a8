pragma application_id = 1348826227;
pragma user_version = 2;
CREATE TABLE pets (
    -- autoincrement: an id is never used twice
    id integer primary key autoincrement,
    name text not null,
    category_id integer not null,
    status text
  ) strict;
CREATE INDEX pets_status on pets (status);
CREATE TABLE api_keys (
    id integer primary key autoincrement,
    digest blob not null unique,
    name text not null,
    environment text not null,
    created_at integer not null,
    expires_at integer,
    last_used_at integer,
    revoked_at integer,
    rotated_at integer
  ) strict;
CREATE TABLE idempotency_keys (
    api_key_id integer not null,
    name text not null,
    created_at integer not null,
    -- the animal that was added; null only until it is, in the same transaction
    pet_id integer unique,
    primary key (api_key_id, name)
  ) strict;
CREATE INDEX idempotency_keys_created_at on idempotency_keys (created_at);
insert into pets (id,name,category_id,status) values (1,'Rex',1,'sold');
insert into pets (id,name,category_id,status) values (2,'Mia',2,null);
insert into pets (id,name,category_id,status) values (3,'Tom',9007199254740993,null);
insert into api_keys (id,digest,name,environment,created_at,expires_at,last_used_at,revoked_at,rotated_at) values (1,x'0707070707070707070707070707070707070707070707070707070707070707','first','staging',1790000000000,null,null,null,null);
insert into idempotency_keys (api_key_id,name,created_at,pet_id) values (1,'once',4102444800000,3);
delete from sqlite_sequence;
insert into sqlite_sequence (name,seq) values ('api_keys',1);
insert into sqlite_sequence (name,seq) values ('pets',3);

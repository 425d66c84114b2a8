CREATE TABLE api_keys (
    id bigint NOT NULL,
    digest bytea NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    environment text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint,
    rotated_at bigint
);
CREATE TABLE counters (
    name text NOT NULL,
    value bigint NOT NULL
);
CREATE TABLE idempotency_keys (
    api_key_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    pet_id bigint
);
CREATE TABLE pets (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    category_id bigint NOT NULL,
    status text COLLATE pg_catalog."C"
);
CREATE TABLE petstore_schema (
    version bigint NOT NULL
);
INSERT INTO api_keys VALUES (1, '\x0707070707070707070707070707070707070707070707070707070707070707', 'first', 'staging', 1790000000000, NULL, NULL, NULL, NULL);
INSERT INTO counters VALUES ('api_keys', 1);
INSERT INTO counters VALUES ('pets', 3);
INSERT INTO idempotency_keys VALUES (1, 'once', 4102444800000, 3);
INSERT INTO pets VALUES (1, 'Rex', 1, 'sold');
INSERT INTO pets VALUES (2, 'Mia', 2, NULL);
INSERT INTO pets VALUES (3, 'Tom', 9007199254740993, NULL);
INSERT INTO petstore_schema VALUES (2);
ALTER TABLE ONLY api_keys
    ADD CONSTRAINT api_keys_digest_key UNIQUE (digest);
ALTER TABLE ONLY api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY counters
    ADD CONSTRAINT counters_pkey PRIMARY KEY (name);
ALTER TABLE ONLY idempotency_keys
    ADD CONSTRAINT idempotency_keys_pet_id_key UNIQUE (pet_id);
ALTER TABLE ONLY idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (api_key_id, name);
ALTER TABLE ONLY pets
    ADD CONSTRAINT pets_pkey PRIMARY KEY (id);
CREATE INDEX idempotency_keys_created_at ON idempotency_keys USING btree (created_at);
CREATE INDEX pets_status ON pets USING btree (status, id);

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA leat;
ALTER SCHEMA leat OWNER TO owner;
CREATE FUNCTION leat.clock() RETURNS timestamp with time zone
    LANGUAGE sql
    AS $$ select pg_catalog.clock_timestamp() $$;
ALTER FUNCTION leat.clock() OWNER TO owner;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE leat.run (
    id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT leat.clock() NOT NULL,
    identity text NOT NULL,
    settings text NOT NULL,
    model text NOT NULL,
    model_hash text NOT NULL,
    value_names text[] NOT NULL,
    data text NOT NULL,
    data_note text DEFAULT ''::text NOT NULL,
    samples bigint NOT NULL,
    sample_bytes bigint DEFAULT 0 NOT NULL,
    list_bytes bigint DEFAULT 0 NOT NULL,
    kernel_class text NOT NULL,
    leat_version text NOT NULL,
    units integer NOT NULL,
    unit_size bigint NOT NULL,
    steps bigint NOT NULL,
    payload_bytes bigint NOT NULL,
    weights_bytes bigint NOT NULL,
    state_bytes bigint NOT NULL,
    part_bytes integer NOT NULL,
    memory_bytes bigint NOT NULL,
    lease_ms bigint DEFAULT 300000 NOT NULL,
    renew_ms bigint DEFAULT 10000 NOT NULL,
    silent_ms bigint DEFAULT 30000 NOT NULL,
    hold_ms bigint DEFAULT 15000 NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    epoch bigint DEFAULT 0 NOT NULL,
    coordinator text DEFAULT ''::text NOT NULL,
    coordinator_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    step bigint DEFAULT '-1'::integer NOT NULL,
    weights_slot smallint DEFAULT 0 NOT NULL,
    weights_hash text DEFAULT ''::text NOT NULL,
    state_slot smallint DEFAULT 0 NOT NULL,
    state_step bigint DEFAULT '-1'::integer NOT NULL,
    state_hash text DEFAULT ''::text NOT NULL,
    CONSTRAINT run_fence_check CHECK ((fence >= 0)),
    CONSTRAINT run_hold_ms_check CHECK ((hold_ms > 0)),
    CONSTRAINT run_identity_check CHECK ((identity ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT run_lease_ms_check CHECK ((lease_ms > 0)),
    CONSTRAINT run_list_bytes_check CHECK (((list_bytes >= 0) AND (list_bytes <= (64 << 20)))),
    CONSTRAINT run_name_check CHECK ((name ~ '^[A-Za-z0-9._-]{1,64}$'::text)),
    CONSTRAINT run_part_bytes_check CHECK (((part_bytes >= 1024) AND (part_bytes <= (8 << 20)))),
    CONSTRAINT run_payload_bytes_check CHECK (((payload_bytes >= 1) AND (payload_bytes <= (1 << 29)))),
    CONSTRAINT run_renew_ms_check CHECK ((renew_ms > 0)),
    CONSTRAINT run_sample_bytes_check CHECK (((sample_bytes >= 0) AND (sample_bytes <= (64 << 20)))),
    CONSTRAINT run_silent_ms_check CHECK ((silent_ms > 0)),
    CONSTRAINT run_state_bytes_check CHECK ((state_bytes > 0)),
    CONSTRAINT run_state_check CHECK ((state = ANY (ARRAY['open'::text, 'paused'::text, 'finished'::text]))),
    CONSTRAINT run_state_slot_check CHECK ((state_slot = ANY (ARRAY[0, 1]))),
    CONSTRAINT run_state_step_check CHECK ((state_step >= '-1'::integer)),
    CONSTRAINT run_step_check CHECK ((step >= '-1'::integer)),
    CONSTRAINT run_steps_check CHECK ((steps > 0)),
    CONSTRAINT run_unit_size_check CHECK ((unit_size >= 0)),
    CONSTRAINT run_units_check CHECK (((units >= 1) AND (units <= 100000))),
    CONSTRAINT run_value_names_check CHECK (((value_names)::text ~ '^\{([a-z0-9_]{1,48}(,[a-z0-9_]{1,48}){0,15})?\}$'::text)),
    CONSTRAINT run_weights_bytes_check CHECK ((weights_bytes > 0)),
    CONSTRAINT run_weights_slot_check CHECK ((weights_slot = ANY (ARRAY[0, 1])))
);
ALTER TABLE leat.run OWNER TO owner;
CREATE FUNCTION leat.add_units(r leat.run, p_step bigint, p_units integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if p_units is null or p_units not between 1 and r.units then
    raise exception 'leat: a step of this run has at most % units, and at least one, not %',
      r.units, p_units using errcode = 'invalid_parameter_value';
  end if;
  insert into leat.unit (run, step, unit)
  select r.id, p_step, n from generate_series(0, p_units - 1) n on conflict do nothing;
end $$;
ALTER FUNCTION leat.add_units(r leat.run, p_step bigint, p_units integer) OWNER TO owner;
CREATE FUNCTION leat.arrived(p_run bigint) RETURNS TABLE(unit integer, lease bigint, account name, machine text, hash text)
    LANGUAGE sql STABLE
    AS $$
  select u.unit, u.lease, l.account, l.machine, u.hash
  from leat.run r join leat.unit u on u.run = r.id and u.step = r.step and u.state = 'done'
  join leat.lease l on l.lease = u.lease
  where r.id = p_run order by u.unit
$$;
ALTER FUNCTION leat.arrived(p_run bigint) OWNER TO owner;
CREATE FUNCTION leat.choose(r leat.run, p_machine text, OUT unit integer, OUT kind text) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
  median double precision;
  failed integer[];
  tried integer[];
  locked bigint;
  live bigint;
  held boolean;
begin
  kind := 'work';
  -- Units at which this machine has failed are for others, as long as there are any. A lease that is
  -- refused without a reason lost its parts in a crash, which is not the machine's failure.
  select coalesce(array_agg(distinct l.unit), '{}') into failed from leat.lease l
  where l.run = r.id and l.step = r.step and l.account = session_user and l.machine = p_machine
    and (l.state = 'failed' or (l.state = 'refused' and l.reason <> ''))
    and exists (select from leat.machine m
                where m.run = r.id and (m.account, m.id) <> (session_user, p_machine)
                and leat.holds(m.seen_at + interval '2 minutes', 120000));
  tried := failed;
  select u.unit into choose.unit from leat.unit u
  where u.run = r.id and u.step = r.step and u.state = 'ready' and not u.unit = any (failed)
  order by u.unit limit 1 for update skip locked;
  if found then return; end if;
  loop
    select u.unit into choose.unit from leat.unit u
    where u.run = r.id and u.step = r.step and u.state = 'out' and not u.unit = any (tried)
      and not exists (
        select from leat.lease l where (l.run, l.step, l.unit) = (u.run, u.step, u.unit)
        and leat.is_held(l, r.lease_ms))
    order by u.unit limit 1 for update skip locked;
    exit when not found;
    -- Judged again once they are locked: one may have been renewed meanwhile. Whoever has one of
    -- them locked may be renewing it, and is not waited for.
    select count(*) into locked from (
      select from leat.lease l where (l.run, l.step, l.unit) = (r.id, r.step, choose.unit)
      and l.state = 'live' order by l.lease for update skip locked) ours;
    select count(*), coalesce(bool_or(leat.is_held(l, r.lease_ms)), false) into live, held
    from leat.lease l
    where (l.run, l.step, l.unit) = (r.id, r.step, choose.unit) and l.state = 'live';
    if locked = live and not held then
      update leat.lease l set state = 'expired', ended_at = leat.clock()
      where (l.run, l.step, l.unit) = (r.id, r.step, choose.unit) and l.state = 'live';
      return;
    end if;
    tried := tried || choose.unit;
  end loop;
  kind := 'copy';
  median := leat.median_ms(r.id, r.step);
  select u.unit into choose.unit
  from leat.unit u join lateral (
    select min(l.granted_at) as since, max(l.renewed_at) as renewed,
           bool_or(l.kind = 'copy') as copied,
           bool_or(l.account = session_user and l.machine = p_machine) as mine
    from leat.lease l where (l.run, l.step, l.unit) = (u.run, u.step, u.unit)
    and l.state = 'live') held on true
  where u.run = r.id and u.step = r.step and u.state = 'out' and not held.copied and not held.mine
    and not u.unit = any (failed)
    and (not leat.holds(held.renewed + r.silent_ms * interval '1 millisecond', r.silent_ms)
         or held.since + median * interval '1 millisecond' < leat.clock())
  order by leat.holds(held.renewed + r.silent_ms * interval '1 millisecond', r.silent_ms),
           held.since, u.unit
  limit 1 for update of u skip locked;
  if not found then
    kind := null;
  end if;
end $$;
ALTER FUNCTION leat.choose(r leat.run, p_machine text, OUT unit integer, OUT kind text) OWNER TO owner;
CREATE FUNCTION leat.claim(p_run bigint, p_machine text, p_kept bigint, OUT lease bigint, OUT epoch bigint, OUT step bigint, OUT unit integer, OUT kind text, OUT weights text, OUT state text, OUT news text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  r leat.run;
  now_ timestamptz;
begin
  select * into r from leat.run where id = p_run for share;
  if not found then
    raise exception 'leat: there is no run %', p_run using errcode = 'no_data_found';
  end if;
  claim.state := r.state;
  select m.news into claim.news from leat.machine m
  where m.account = session_user and m.id = p_machine for update;
  if not found then
    raise exception 'leat: the machine is not registered' using errcode = 'no_data_found';
  end if;
  update leat.machine m set seen_at = leat.clock(), news = ''
  where m.account = session_user and m.id = p_machine;
  if r.state <> 'open' or r.step < 0 or r.step >= r.steps then return; end if;
  perform leat.end_leases(r.id, p_machine, p_kept, 'released', 'the machine does not know of it');
  select c.unit, c.kind into claim.unit, claim.kind from leat.choose(r, p_machine) c;
  if claim.unit is null then return; end if;
  now_ := leat.clock();
  claim.epoch := leat.random64();
  insert into leat.lease as l (run, step, unit, account, machine, epoch, kind, granted_at,
                               renewed_at, until)
  values (r.id, r.step, claim.unit, session_user, p_machine, claim.epoch, claim.kind, now_, now_,
          now_ + r.lease_ms * interval '1 millisecond')
  returning l.lease into claim.lease;
  update leat.unit u set state = 'out'
  where (u.run, u.step, u.unit) = (r.id, r.step, claim.unit);
  claim.step := r.step;
  claim.weights := r.weights_hash;
end $$;
ALTER FUNCTION leat.claim(p_run bigint, p_machine text, p_kept bigint, OUT lease bigint, OUT epoch bigint, OUT step bigint, OUT unit integer, OUT kind text, OUT weights text, OUT state text, OUT news text) OWNER TO owner;
CREATE FUNCTION leat.claim_ahead(p_run bigint, p_machine text, p_kept bigint, OUT lease bigint, OUT epoch bigint, OUT step bigint, OUT unit integer, OUT kind text, OUT weights text, OUT state text, OUT news text) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  ready_ bigint;
begin
  select r.state, (select count(*) from leat.unit u
                   where u.run = r.id and u.step = r.step and u.state = 'ready')
  into claim_ahead.state, ready_ from leat.run r where r.id = p_run;
  if ready_ > 0 and ready_ >= (select count(*) from leat.machine m where m.run = p_run
                               and leat.holds(m.seen_at + interval '2 minutes', 120000)) then
    select c.* into claim_ahead.lease, claim_ahead.epoch, claim_ahead.step, claim_ahead.unit,
      claim_ahead.kind, claim_ahead.weights, claim_ahead.state, claim_ahead.news
    from leat.claim(p_run, p_machine, p_kept) c;
  end if;
end $$;
ALTER FUNCTION leat.claim_ahead(p_run bigint, p_machine text, p_kept bigint, OUT lease bigint, OUT epoch bigint, OUT step bigint, OUT unit integer, OUT kind text, OUT weights text, OUT state text, OUT news text) OWNER TO owner;
CREATE FUNCTION leat.clear_slot(p_run bigint, p_fence bigint, p_epoch bigint, p_kind text, p_slot integer, p_wait_ms integer) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
  table_ regclass := leat.slot(leat.fenced(p_run, p_fence, p_epoch), p_kind, p_slot);
begin
  perform set_config('lock_timeout', p_wait_ms || 'ms', true);
  execute format('truncate %s', table_);
  return 'truncated';
exception when lock_not_available then
  perform set_config('lock_timeout', '0', true);
  execute format('delete from %s', table_);
  return 'deleted';
end $$;
ALTER FUNCTION leat.clear_slot(p_run bigint, p_fence bigint, p_epoch bigint, p_kind text, p_slot integer, p_wait_ms integer) OWNER TO owner;
CREATE FUNCTION leat.commit_step(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_weights_slot integer, p_weights text, p_state_slot integer, p_state text, p_samples bigint, p_values double precision[], p_units integer, p_next_units integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  r leat.run := leat.fenced(p_run, p_fence, p_epoch);
  units_ bigint;
  confirmed_ bigint;
  workers_ integer;
begin
  if r.step <> p_step then
    raise exception 'leat: step % is open, not %', r.step, p_step using errcode = 'LT002';
  elsif p_step >= r.steps or p_weights_slot = r.weights_slot
        or (p_state_slot = r.state_slot and r.state_step >= 0) then
    raise exception 'leat: step % cannot be committed so', p_step using errcode = 'LT002';
  elsif cardinality(p_values) <> cardinality(r.value_names)
        or array_position(p_values, null) is not null then
    raise exception 'leat: a step of this run has % values, not %', cardinality(r.value_names),
      cardinality(array_remove(p_values, null)) using errcode = 'invalid_parameter_value';
  end if;
  perform from leat.unit where run = p_run and step = p_step order by unit for update;
  select count(*), count(*) filter (where state = 'confirmed') into units_, confirmed_
  from leat.unit where run = p_run and step = p_step;
  if units_ is distinct from p_units then
    raise exception 'leat: step % has % units, not %', p_step, units_, p_units
      using errcode = 'LT002';
  elsif confirmed_ <> units_ then
    raise exception 'leat: not all units of step % are confirmed', p_step using errcode = 'LT002';
  end if;
  select count(distinct (account, machine)) into workers_ from leat.lease
  where run = p_run and step = p_step and state = 'used';
  insert into leat.step (run, step, committed_at, state_hash, samples, values, workers)
  values (p_run, p_step, leat.clock(), p_state, p_samples, p_values, workers_);
  update leat.lease set state = 'superseded', ended_at = leat.clock()
  where run = p_run and step = p_step and state = 'live';
  delete from leat.lease where run = p_run and step < p_step;
  delete from leat.unit where run = p_run and step < p_step;
  if p_step + 1 < r.steps then perform leat.add_units(r, p_step + 1, p_next_units); end if;
  update leat.run set step = p_step + 1, weights_slot = p_weights_slot, weights_hash = p_weights,
    state_slot = coalesce(p_state_slot, state_slot),
    state_step = case when p_state_slot is null then state_step else p_step + 1 end,
    state_hash = case when p_state_slot is null then state_hash else p_state end
  where id = p_run;
  delete from leat.event where id <= (select max(id) from leat.event) - 10000;
end $$;
ALTER FUNCTION leat.commit_step(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_weights_slot integer, p_weights text, p_state_slot integer, p_state text, p_samples bigint, p_values double precision[], p_units integer, p_next_units integer) OWNER TO owner;
CREATE FUNCTION leat.confirm(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_unit integer, p_lease bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  r leat.run := leat.fenced(p_run, p_fence, p_epoch);
  l leat.lease;
begin
  if r.step <> p_step then return false; end if;
  update leat.unit u set state = 'confirmed'
  where (u.run, u.step, u.unit) = (p_run, p_step, p_unit) and u.lease = p_lease
    and u.state = 'done';
  if not found then return false; end if;
  select * into l from leat.lease where lease = p_lease;
  update leat.account set accepted = accepted + 1 where name = l.account;
  update leat.machine m set accepted = accepted + 1
  where m.account = l.account and m.id = l.machine;
  return true;
end $$;
ALTER FUNCTION leat.confirm(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_unit integer, p_lease bigint) OWNER TO owner;
CREATE FUNCTION leat.create_parts(p_run bigint, p_slot integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  execute format('create unlogged table leat.part_%s_%s (lease bigint, part integer,
                  bytes bytea not null, primary key (lease, part))', p_run, p_slot);
  execute format('alter table leat.part_%s_%s alter bytes set storage external', p_run, p_slot);
end $$;
ALTER FUNCTION leat.create_parts(p_run bigint, p_slot integer) OWNER TO owner;
CREATE FUNCTION leat.create_run(p_name text, p_identity text, p_settings text, p_model text, p_model_hash text, p_data text, p_data_note text, p_samples bigint, p_kernel_class text, p_version text, p_units integer, p_unit_size bigint, p_steps bigint, p_payload_bytes bigint, p_weights_bytes bigint, p_state_bytes bigint, p_part_bytes integer, p_memory_bytes bigint, p_lease_ms bigint, p_renew_ms bigint, p_silent_ms bigint, p_hold_ms bigint, p_sample_bytes bigint, p_value_names text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  id_ bigint;
  slot_ integer;
begin
  insert into leat.run (name, identity, settings, model, model_hash, data, data_note, samples,
                        kernel_class, leat_version, units, unit_size, steps, payload_bytes,
                        weights_bytes, state_bytes, part_bytes, memory_bytes, lease_ms, renew_ms,
                        silent_ms, hold_ms, sample_bytes, value_names)
  values (p_name, p_identity, p_settings, p_model, p_model_hash, p_data, p_data_note, p_samples,
          p_kernel_class, p_version, p_units, p_unit_size, p_steps, p_payload_bytes,
          p_weights_bytes, p_state_bytes, p_part_bytes, p_memory_bytes, p_lease_ms, p_renew_ms,
          p_silent_ms, p_hold_ms, p_sample_bytes, string_to_array(p_value_names, ' '))
  returning id into id_;
  for slot_ in 0 .. 1 loop
    perform leat.create_parts(id_, slot_);
    execute format('create table leat.weights_%s_%s (part integer primary key,
                    bytes bytea not null)', id_, slot_);
    execute format('create table leat.state_%s_%s (part integer primary key,
                    bytes bytea not null)', id_, slot_);
    -- The bytes do not compress, and are not updated.
    execute format('alter table leat.weights_%s_%s alter bytes set storage external', id_, slot_);
    execute format('alter table leat.state_%s_%s alter bytes set storage external', id_, slot_);
  end loop;
  execute format('create table leat.list_%s (part integer primary key, bytes bytea not null)', id_);
  return id_;
end $$;
ALTER FUNCTION leat.create_run(p_name text, p_identity text, p_settings text, p_model text, p_model_hash text, p_data text, p_data_note text, p_samples bigint, p_kernel_class text, p_version text, p_units integer, p_unit_size bigint, p_steps bigint, p_payload_bytes bigint, p_weights_bytes bigint, p_state_bytes bigint, p_part_bytes integer, p_memory_bytes bigint, p_lease_ms bigint, p_renew_ms bigint, p_silent_ms bigint, p_hold_ms bigint, p_sample_bytes bigint, p_value_names text) OWNER TO owner;
CREATE FUNCTION leat.data_count(p_run bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
declare
  count_ bigint;
begin
  -- put_data leaves no gaps
  execute format('select coalesce(max(sample) + 1, 0) from leat.data_%s', p_run) into count_;
  return count_;
end $$;
ALTER FUNCTION leat.data_count(p_run bigint) OWNER TO owner;
CREATE FUNCTION leat.drop_run(p_run bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  slot_ integer;
begin
  for slot_ in 0 .. 1 loop
    execute format('drop table if exists leat.part_%s_%s, leat.weights_%s_%s, leat.state_%s_%s',
                   p_run, slot_, p_run, slot_, p_run, slot_);
  end loop;
  execute format('drop table if exists leat.data_%s, leat.list_%s', p_run, p_run);
  delete from leat.event where run = p_run;
  delete from leat.run where id = p_run;
end $$;
ALTER FUNCTION leat.drop_run(p_run bigint) OWNER TO owner;
CREATE FUNCTION leat.end_lease(p_lease bigint, p_state text, p_reason text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  l leat.lease;
begin
  select * into l from leat.lease where lease = p_lease;
  if not found then return false; end if;
  perform from leat.run where id = l.run for share;
  perform from leat.unit u where (u.run, u.step, u.unit) = (l.run, l.step, l.unit) for update;
  update leat.lease set state = p_state, reason = left(p_reason, 200), ended_at = leat.clock()
  where lease = p_lease and state = 'live';
  if not found then return false; end if;
  update leat.unit u set state = 'ready'
  where (u.run, u.step, u.unit) = (l.run, l.step, l.unit) and u.state = 'out'
    and not exists (select from leat.lease o where (o.run, o.step, o.unit) =
                    (l.run, l.step, l.unit) and o.state = 'live');
  return true;
end $$;
ALTER FUNCTION leat.end_lease(p_lease bigint, p_state text, p_reason text) OWNER TO owner;
CREATE FUNCTION leat.end_leases(p_run bigint, p_machine text, p_kept bigint, p_state text, p_reason text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  l record;
begin
  for l in select lease.lease, lease.run, lease.step, lease.unit from leat.lease
           where state = 'live' and account = session_user and machine = p_machine
             and run = p_run and lease.lease is distinct from p_kept order by lease.step, lease.unit loop
    perform leat.end_lease(l.lease, p_state, p_reason);
  end loop;
end $$;
ALTER FUNCTION leat.end_leases(p_run bigint, p_machine text, p_kept bigint, p_state text, p_reason text) OWNER TO owner;
CREATE FUNCTION leat.fail(p_lease bigint, p_epoch bigint, p_reason text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  l leat.lease;
begin
  select * into l from leat.lease x where x.lease = p_lease and x.epoch = p_epoch
    and x.account = session_user;
  if not found then return false; end if;
  if not leat.end_lease(p_lease, 'failed', leat.tidy(p_reason)) then return false; end if;
  perform leat.note(l.run, 'failed', l.machine, format('step %s, unit %s: %s', l.step + 1, l.unit,
                                                       leat.tidy(p_reason)));
  return true;
end $$;
ALTER FUNCTION leat.fail(p_lease bigint, p_epoch bigint, p_reason text) OWNER TO owner;
CREATE FUNCTION leat.fenced(p_run bigint, p_fence bigint, p_epoch bigint) RETURNS leat.run
    LANGUAGE plpgsql
    AS $$
declare
  r leat.run;
begin
  select * into r from leat.run where id = p_run for no key update;
  if not found then
    raise exception 'leat: there is no run %', p_run using errcode = 'no_data_found';
  elsif r.fence <> p_fence or r.epoch <> p_epoch then
    raise exception 'leat: "%" has taken over the run', r.coordinator using errcode = 'LT001';
  end if;
  return r;
end $$;
ALTER FUNCTION leat.fenced(p_run bigint, p_fence bigint, p_epoch bigint) OWNER TO owner;
CREATE FUNCTION leat."fetch"(p_run bigint, p_weights text, p_part integer) RETURNS bytea
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  r leat.run;
  bytes_ bytea;
begin
  select * into r from leat.run where id = p_run;
  if not found or r.weights_hash <> p_weights then return null; end if;
  execute format('select bytes from leat.weights_%s_%s where part = $1', r.id, r.weights_slot)
  into bytes_ using p_part;
  return bytes_;
end $_$;
ALTER FUNCTION leat."fetch"(p_run bigint, p_weights text, p_part integer) OWNER TO owner;
CREATE FUNCTION leat.fetch_list(p_run bigint, p_part integer) RETURNS bytea
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  bytes_ bytea;
begin
  perform from leat.run where id = p_run and list_bytes > 0;
  if not found then return null; end if;
  execute format('select bytes from leat.list_%s where part = $1', p_run) into bytes_ using p_part;
  return bytes_;
end $_$;
ALTER FUNCTION leat.fetch_list(p_run bigint, p_part integer) OWNER TO owner;
CREATE FUNCTION leat.give_up(p_run bigint, p_fence bigint, p_epoch bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform leat.fenced(p_run, p_fence, p_epoch);
  update leat.run set coordinator = '', coordinator_until = '-infinity', fence = fence + 1
  where id = p_run;
end $$;
ALTER FUNCTION leat.give_up(p_run bigint, p_fence bigint, p_epoch bigint) OWNER TO owner;
CREATE FUNCTION leat.has_parts(p_run bigint, p_slot integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
  execute format('select sum(get_byte(substring(bytes from octet_length(bytes)), 0))
                  from leat.part_%s_%s', p_run, p_slot);
  -- long enough to be kept out of line
  execute format('insert into leat.part_%s_%s values (0, 0, decode(repeat(''00'', 8192), ''hex''))',
                 p_run, p_slot);
  execute format('delete from leat.part_%s_%s where lease = 0', p_run, p_slot);
  return true;
exception
  when undefined_table or feature_not_supported or system_error or io_error or undefined_file
       or data_corrupted or index_corrupted then
    return false;
end $$;
ALTER FUNCTION leat.has_parts(p_run bigint, p_slot integer) OWNER TO owner;
CREATE FUNCTION leat.hold(p_run bigint, p_name text, p_fence bigint, p_epoch bigint, OUT fence bigint, OUT epoch bigint, OUT holder text, OUT left_ms bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
#variable_conflict use_column
declare
  r leat.run;
  now_ timestamptz;
begin
  select * into r from leat.run where id = p_run for no key update;
  if not found then
    raise exception 'leat: there is no run %', p_run using errcode = 'no_data_found';
  end if;
  now_ := leat.clock();
  if p_fence > 0 and r.fence = p_fence and r.epoch = p_epoch then
    hold.fence := p_fence;
    hold.epoch := p_epoch;
  elsif r.coordinator <> '' and leat.holds(r.coordinator_until, r.hold_ms) then
    hold.holder := r.coordinator;
    hold.left_ms := extract(epoch from r.coordinator_until - now_) * 1000;
    return;
  else
    hold.fence := r.fence + 1;
    hold.epoch := leat.random64();
  end if;
  update leat.run set coordinator = leat.tidy(p_name), fence = hold.fence, epoch = hold.epoch,
    coordinator_until = now_ + hold_ms * interval '1 millisecond'
  where id = p_run;
end $$;
ALTER FUNCTION leat.hold(p_run bigint, p_name text, p_fence bigint, p_epoch bigint, OUT fence bigint, OUT epoch bigint, OUT holder text, OUT left_ms bigint) OWNER TO owner;
CREATE FUNCTION leat.holds(until timestamp with time zone, length_ms bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  now_ timestamptz := leat.clock();
begin
  return until > now_ and until <= now_ + length_ms * interval '1 millisecond';
end $$;
ALTER FUNCTION leat.holds(until timestamp with time zone, length_ms bigint) OWNER TO owner;
CREATE FUNCTION leat.hopeless(p_run bigint) RETURNS SETOF integer
    LANGUAGE sql STABLE
    AS $$
  select u.unit from leat.run r join leat.unit u on u.run = r.id and u.step = r.step
  join leat.lease l on (l.run, l.step, l.unit) = (u.run, u.step, u.unit)
  where r.id = p_run and u.state in ('ready', 'out')
  group by r.id, u.unit
  having count(distinct (l.account, l.machine)) filter (
           where l.state = 'failed' or (l.state = 'refused' and l.reason <> '')) >=
           least(3, greatest(1, (select count(*) from leat.machine m where m.run = p_run
                                 and leat.holds(m.seen_at + interval '2 minutes', 120000))))
      or count(*) filter (where l.state = 'expired' or l.reason = 'the machine began anew') >= 5
  order by u.unit
$$;
ALTER FUNCTION leat.hopeless(p_run bigint) OWNER TO owner;
CREATE TABLE leat.lease (
    lease bigint NOT NULL,
    run bigint NOT NULL,
    step bigint NOT NULL,
    unit integer NOT NULL,
    account name NOT NULL,
    machine text NOT NULL,
    epoch bigint NOT NULL,
    kind text NOT NULL,
    state text DEFAULT 'live'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    granted_at timestamp with time zone NOT NULL,
    renewed_at timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT lease_kind_check CHECK ((kind = ANY (ARRAY['work'::text, 'copy'::text]))),
    CONSTRAINT lease_state_check CHECK ((state = ANY (ARRAY['live'::text, 'used'::text, 'superseded'::text, 'expired'::text, 'released'::text, 'failed'::text, 'refused'::text])))
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='500', autovacuum_vacuum_scale_factor='0.1');
ALTER TABLE leat.lease OWNER TO owner;
CREATE FUNCTION leat.is_held(l leat.lease, lease_ms bigint) RETURNS boolean
    LANGUAGE sql
    AS $$
  select l.state = 'live' and leat.holds(l.until, lease_ms)
$$;
ALTER FUNCTION leat.is_held(l leat.lease, lease_ms bigint) OWNER TO owner;
CREATE FUNCTION leat.keep_list(p_run bigint, p_fence bigint, p_epoch bigint, p_bytes bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  bytes_ bigint;
begin
  perform leat.fenced(p_run, p_fence, p_epoch);
  execute format('select coalesce(sum(octet_length(bytes)), 0) from leat.list_%s', p_run)
  into bytes_;
  if bytes_ <> p_bytes then
    raise exception 'leat: % bytes of a list of % are here', bytes_, p_bytes
      using errcode = 'invalid_parameter_value';
  end if;
  update leat.run set list_bytes = p_bytes where id = p_run;
end $$;
ALTER FUNCTION leat.keep_list(p_run bigint, p_fence bigint, p_epoch bigint, p_bytes bigint) OWNER TO owner;
CREATE FUNCTION leat.keep_state(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_slot integer, p_state text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  r leat.run := leat.fenced(p_run, p_fence, p_epoch);
begin
  perform leat.slot(r, 'state', p_slot);
  if r.step <> p_step then
    raise exception 'leat: step % is open, not %', r.step, p_step using errcode = 'LT002';
  end if;
  update leat.run set state_slot = p_slot, state_step = p_step, state_hash = p_state
  where id = p_run;
end $$;
ALTER FUNCTION leat.keep_state(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_slot integer, p_state text) OWNER TO owner;
CREATE FUNCTION leat.lock_lease(p_lease bigint, p_epoch bigint, OUT l leat.lease, OUT why text) RETURNS record
    LANGUAGE plpgsql
    AS $$
begin
  select * into l from leat.lease x where x.lease = p_lease for update;
  if not found or l.account <> session_user then
    why := 'there is no such lease';
  elsif l.epoch <> p_epoch then
    why := 'another lease has its number now: the database went back';
  elsif l.state <> 'live' then
    why := case l.state when 'used' then 'the result was accepted already'
      when 'superseded' then 'another machine was faster'
      when 'expired' then 'the lease ended, and another machine has the unit'
      when 'refused' then 'the result was refused: ' || l.reason
      when 'released' then case l.reason
        -- the text that LEAT_STORE_CLONED is
        when 'the machine began anew' then 'another process works as this machine'
        when 'the machine does not know of it' then 'another process works as this machine'
        else 'the lease ended (released)' end
      else 'the lease ended (' || l.state || ')' end;
  end if;
end $$;
ALTER FUNCTION leat.lock_lease(p_lease bigint, p_epoch bigint, OUT l leat.lease, OUT why text) OWNER TO owner;
CREATE FUNCTION leat.me() RETURNS name
    LANGUAGE plpgsql
    AS $$
begin
  insert into leat.account (name) values (session_user) on conflict do nothing;
  return session_user;
end $$;
ALTER FUNCTION leat.me() OWNER TO owner;
CREATE FUNCTION leat.median_ms(p_run bigint, p_step bigint) RETURNS double precision
    LANGUAGE sql STABLE
    AS $$
  select coalesce(
    (select percentile_cont(0.5) within group (order by
       extract(epoch from l.ended_at - l.granted_at)) * 1000
     from leat.lease l where l.run = p_run and l.step = p_step and l.state = 'used'),
    (select percentile_cont(0.5) within group (order by
       extract(epoch from l.ended_at - l.granted_at)) * 1000
     from leat.lease l where l.run = p_run and l.step = p_step - 1 and l.state = 'used'),
    300000)
$$;
ALTER FUNCTION leat.median_ms(p_run bigint, p_step bigint) OWNER TO owner;
CREATE FUNCTION leat.note(p_run bigint, p_kind text, p_machine text, p_words text) RETURNS void
    LANGUAGE sql
    AS $$
  insert into leat.event (run, kind, account, machine, words)
  values (p_run, p_kind, session_user, p_machine, left(p_words, 500))
$$;
ALTER FUNCTION leat.note(p_run bigint, p_kind text, p_machine text, p_words text) OWNER TO owner;
CREATE FUNCTION leat.open_step(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_slot integer, p_weights text, p_units integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  r leat.run := leat.fenced(p_run, p_fence, p_epoch);
begin
  if p_step < 0 or p_step > r.steps then
    raise exception 'leat: there is no step %', p_step;
  end if;
  perform from leat.unit where run = p_run order by step, unit for update;
  delete from leat.lease where run = p_run;
  delete from leat.unit where run = p_run;
  delete from leat.step where run = p_run and step >= p_step;
  if p_step < r.steps then perform leat.add_units(r, p_step, p_units); end if;
  update leat.run set step = p_step, weights_slot = p_slot, weights_hash = p_weights,
    state_step = case when state_step > p_step then -1 else state_step end
  where id = p_run;
end $$;
ALTER FUNCTION leat.open_step(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_slot integer, p_weights text, p_units integer) OWNER TO owner;
CREATE FUNCTION leat.own_result(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_unit integer, p_hash text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  r leat.run := leat.fenced(p_run, p_fence, p_epoch);
begin
  if r.step <> p_step then return false; end if;
  update leat.unit u set state = 'confirmed', lease = null, hash = p_hash
  where (u.run, u.step, u.unit) = (p_run, p_step, p_unit) and u.state <> 'confirmed';
  if not found then return false; end if;
  update leat.lease l set state = 'superseded', ended_at = leat.clock()
  where (l.run, l.step, l.unit) = (p_run, p_step, p_unit) and l.state = 'live';
  return true;
end $$;
ALTER FUNCTION leat.own_result(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_unit integer, p_hash text) OWNER TO owner;
CREATE FUNCTION leat.put(p_lease bigint, p_epoch bigint, p_part integer, p_bytes bytea, OUT why text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  k record;
  l leat.lease;
  r leat.run;
  length_ bigint;
begin
  k := leat.lock_lease(p_lease, p_epoch);
  l := k.l;
  put.why := k.why;
  if put.why is not null then return; end if;
  select * into r from leat.run where id = l.run;
  if r.step <> l.step or r.state <> 'open' then
    put.why := 'the step is not open any more';
    return;
  end if;
  length_ := least(r.part_bytes, r.payload_bytes - p_part::bigint * r.part_bytes);
  if p_part < 0 or length_ <= 0 or octet_length(p_bytes) <> length_ then
    put.why := format('part %s has %s bytes instead of %s', p_part, octet_length(p_bytes),
                      greatest(length_, 0));
    return;
  end if;
  execute format('insert into leat.part_%s_%s values ($1, $2, $3) on conflict do nothing', r.id,
                 l.step % 2) using p_lease, p_part, p_bytes;
  update leat.lease x set renewed_at = leat.clock(),
    until = leat.clock() + r.lease_ms * interval '1 millisecond' where x.lease = p_lease;
end $_$;
ALTER FUNCTION leat.put(p_lease bigint, p_epoch bigint, p_part integer, p_bytes bytea, OUT why text) OWNER TO owner;
CREATE FUNCTION leat.put_data(p_run bigint, p_fence bigint, p_epoch bigint, p_first bigint, p_bytes bytea) RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
  r leat.run := leat.fenced(p_run, p_fence, p_epoch);
  count_ bigint := octet_length(p_bytes) / greatest(r.sample_bytes, 1);
begin
  if r.sample_bytes = 0 or octet_length(p_bytes) <> count_ * r.sample_bytes
     or count_ not between 1 and greatest(r.part_bytes / r.sample_bytes, 1)
     or p_first not between 0 and r.samples - count_ or p_first > leat.data_count(p_run) then
    raise exception 'leat: % bytes from sample % on are not samples of the run',
      octet_length(p_bytes), p_first using errcode = 'invalid_parameter_value';
  end if;
  execute format('insert into leat.data_%s select $1 + i, substring($2 from i * $3 + 1 for $3)
                  from generate_series(0, $4 - 1) i on conflict do nothing', p_run)
  using p_first, p_bytes, r.sample_bytes::integer, count_::integer;
end $_$;
ALTER FUNCTION leat.put_data(p_run bigint, p_fence bigint, p_epoch bigint, p_first bigint, p_bytes bytea) OWNER TO owner;
CREATE FUNCTION leat.put_list(p_run bigint, p_fence bigint, p_epoch bigint, p_part integer, p_bytes bytea) RETURNS void
    LANGUAGE plpgsql
    AS $_$
begin
  perform leat.fenced(p_run, p_fence, p_epoch);
  if p_part = 0 then
    update leat.run set list_bytes = 0 where id = p_run;
    execute format('delete from leat.list_%s', p_run);
  end if;
  execute format('insert into leat.list_%s values ($1, $2)', p_run) using p_part, p_bytes;
end $_$;
ALTER FUNCTION leat.put_list(p_run bigint, p_fence bigint, p_epoch bigint, p_part integer, p_bytes bytea) OWNER TO owner;
CREATE FUNCTION leat.put_slot(p_run bigint, p_fence bigint, p_epoch bigint, p_kind text, p_slot integer, p_part integer, p_bytes bytea) RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
  table_ regclass := leat.slot(leat.fenced(p_run, p_fence, p_epoch), p_kind, p_slot);
begin
  execute format('insert into %s values ($1, $2) on conflict (part) do update set bytes = $2',
                 table_) using p_part, p_bytes;
end $_$;
ALTER FUNCTION leat.put_slot(p_run bigint, p_fence bigint, p_epoch bigint, p_kind text, p_slot integer, p_part integer, p_bytes bytea) OWNER TO owner;
CREATE FUNCTION leat.random64() RETURNS bigint
    LANGUAGE sql
    AS $$
  select ('x' || left(md5(gen_random_uuid()::text), 16))::bit(64)::bigint
$$;
ALTER FUNCTION leat.random64() OWNER TO owner;
CREATE FUNCTION leat.read_part(p_run bigint, p_step bigint, p_lease bigint, p_part integer) RETURNS bytea
    LANGUAGE plpgsql STABLE
    AS $_$
declare
  bytes_ bytea;
begin
  execute format('select bytes from leat.part_%s_%s where lease = $1 and part = $2', p_run,
                 p_step % 2) into bytes_ using p_lease, p_part;
  return bytes_;
end $_$;
ALTER FUNCTION leat.read_part(p_run bigint, p_step bigint, p_lease bigint, p_part integer) OWNER TO owner;
CREATE FUNCTION leat.recover(p_run bigint, p_fence bigint, p_epoch bigint, p_kept integer[]) RETURNS integer
    LANGUAGE plpgsql
    AS $_$
declare
  r leat.run := leat.fenced(p_run, p_fence, p_epoch);
  lost_ integer := 0;
  u record;
  bytes_ bigint;
begin
  for slot_ in 0 .. 1 loop
    if not leat.has_parts(p_run, slot_) then
      execute format('drop table if exists leat.part_%s_%s', p_run, slot_);
      perform leat.create_parts(p_run, slot_);
    end if;
  end loop;
  for u in select x.unit, x.lease from leat.unit x where x.run = p_run and x.step = r.step
           and x.state in ('done', 'confirmed') and not x.unit = any (p_kept)
           order by x.unit for update loop
    execute format('select sum(octet_length(bytes)) from leat.part_%s_%s where lease = $1', p_run,
                   r.step % 2) into bytes_ using u.lease;
    if u.lease is not null and coalesce(bytes_, 0) <> r.payload_bytes then
      update leat.unit x set state = 'ready', lease = null, hash = null
      where (x.run, x.step, x.unit) = (p_run, r.step, u.unit);
      lost_ := lost_ + 1;
    end if;
  end loop;
  return lost_;
end $_$;
ALTER FUNCTION leat.recover(p_run bigint, p_fence bigint, p_epoch bigint, p_kept integer[]) OWNER TO owner;
CREATE FUNCTION leat.refuse(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_unit integer, p_lease bigint, p_mismatch boolean, p_reason text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  r leat.run := leat.fenced(p_run, p_fence, p_epoch);
  l leat.lease;
begin
  if r.step <> p_step then return false; end if;
  update leat.unit u set state = 'ready', lease = null, hash = null
  where (u.run, u.step, u.unit) = (p_run, p_step, p_unit) and u.lease = p_lease
    and u.state in ('done', 'confirmed');
  if not found then return false; end if;
  update leat.lease set state = 'refused', reason = left(p_reason, 200), ended_at = leat.clock()
  where lease = p_lease returning * into l;
  if p_reason = '' then return true; end if;
  update leat.account set refused = refused + 1, mismatched = mismatched + p_mismatch::integer
  where name = l.account;
  update leat.machine m set refused = refused + 1,
    news = left(format('step %s, unit %s was refused: %s', p_step + 1, p_unit, p_reason), 500)
  where m.account = l.account and m.id = l.machine;
  insert into leat.event (run, kind, account, machine, words)
  values (p_run, 'refused', l.account, l.machine,
          left(format('step %s, unit %s: %s', p_step + 1, p_unit, p_reason), 500));
  return true;
end $$;
ALTER FUNCTION leat.refuse(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_unit integer, p_lease bigint, p_mismatch boolean, p_reason text) OWNER TO owner;
CREATE FUNCTION leat.register(p_run text, p_machine text, p_name text, p_hardware text) RETURNS TABLE(run bigint, name text, model text, model_hash text, data text, data_note text, samples bigint, kernel_class text, identity text, settings text, leat_version text, payload_bytes bigint, weights_bytes bigint, part_bytes integer, memory_bytes bigint, lease_ms bigint, renew_ms bigint, state text, sample_bytes bigint, list_bytes bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
#variable_conflict use_column
declare
  r leat.run;
  open_ text;
  account_ name := leat.me();
begin
  if p_machine !~ '^[0-9a-f]{32}$' then
    raise exception 'leat: "%" does not identify a machine', left(p_machine, 64)
      using errcode = 'invalid_parameter_value';
  end if;
  select string_agg(n.name, ', ' order by n.name) into open_ from leat.run n
  where n.state <> 'finished';
  if p_run = '' and open_ is null then
    raise exception 'leat: this database has no open run' using errcode = 'no_data_found';
  elsif p_run = '' and open_ like '%, %' then
    raise exception 'leat: which run? open are: %', open_
      using errcode = 'invalid_parameter_value', hint = 'Add ?run=NAME to the URL.';
  end if;
  select * into r from leat.run n
  where n.name = case when p_run = '' then open_ else p_run end
  order by n.state = 'finished', n.id desc limit 1;
  if not found then
    raise exception 'leat: there is no run "%"; open are: %', left(p_run, 64),
      coalesce(open_, 'none') using errcode = 'no_data_found';
  end if;
  insert into leat.machine (account, id, name, hardware, seen_at, run)
  values (account_, p_machine, leat.tidy(p_name), leat.tidy(p_hardware), leat.clock(), r.id)
  on conflict (account, id) do update
  set name = excluded.name, hardware = excluded.hardware, seen_at = leat.clock(),
      run = excluded.run;
  perform leat.end_leases(r.id, p_machine, 0, 'released', 'the machine began anew');
  return query select r.id, r.name, r.model, r.model_hash, r.data, r.data_note, r.samples,
    r.kernel_class, r.identity, r.settings, r.leat_version, r.payload_bytes, r.weights_bytes,
    r.part_bytes, r.memory_bytes, r.lease_ms, r.renew_ms, r.state, r.sample_bytes,
    r.list_bytes;
end $_$;
ALTER FUNCTION leat.register(p_run text, p_machine text, p_name text, p_hardware text) OWNER TO owner;
CREATE FUNCTION leat.release(p_lease bigint, p_epoch bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if not exists (select from leat.lease l where l.lease = p_lease and l.epoch = p_epoch
                 and l.account = session_user) then return false; end if;
  return leat.end_lease(p_lease, 'released', '');
end $$;
ALTER FUNCTION leat.release(p_lease bigint, p_epoch bigint) OWNER TO owner;
CREATE FUNCTION leat.renew(p_lease bigint, p_epoch bigint, OUT why text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  k record;
  l leat.lease;
  r leat.run;
  now_ timestamptz;
begin
  k := leat.lock_lease(p_lease, p_epoch);
  l := k.l;
  renew.why := k.why;
  update leat.machine m set seen_at = leat.clock()
  where m.account = session_user and m.id = l.machine;
  if renew.why is not null then return; end if;
  select * into r from leat.run where id = l.run;
  if r.state <> 'open' then
    renew.why := 'the run is ' || r.state;
    return;
  end if;
  now_ := leat.clock();
  update leat.lease x set renewed_at = now_, until = now_ + r.lease_ms * interval '1 millisecond'
  where x.lease = p_lease;
end $$;
ALTER FUNCTION leat.renew(p_lease bigint, p_epoch bigint, OUT why text) OWNER TO owner;
CREATE FUNCTION leat.renew_hold(p_run bigint, p_fence bigint, p_epoch bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform leat.fenced(p_run, p_fence, p_epoch);
  update leat.run set coordinator_until = leat.clock() + hold_ms * interval '1 millisecond'
  where id = p_run;
end $$;
ALTER FUNCTION leat.renew_hold(p_run bigint, p_fence bigint, p_epoch bigint) OWNER TO owner;
CREATE FUNCTION leat.resume_run(p_run bigint, p_fence bigint, p_epoch bigint, p_steps bigint, p_lease_ms bigint, p_renew_ms bigint, p_silent_ms bigint, p_hold_ms bigint, p_data_note text, p_units integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  r leat.run := leat.fenced(p_run, p_fence, p_epoch);
begin
  update leat.run set steps = p_steps, lease_ms = p_lease_ms, renew_ms = p_renew_ms,
    silent_ms = p_silent_ms, hold_ms = p_hold_ms, data_note = p_data_note,
    state = case when p_steps > r.steps or state = 'paused' then 'open' else state end,
    reason = ''
  where id = p_run;
  -- the last step was committed without units of a next one
  if r.step >= 0 and r.step < p_steps then perform leat.add_units(r, r.step, p_units); end if;
end $$;
ALTER FUNCTION leat.resume_run(p_run bigint, p_fence bigint, p_epoch bigint, p_steps bigint, p_lease_ms bigint, p_renew_ms bigint, p_silent_ms bigint, p_hold_ms bigint, p_data_note text, p_units integer) OWNER TO owner;
CREATE FUNCTION leat.samples(p_run bigint, p_samples bigint[]) RETURNS bytea
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  r leat.run;
  most_ bigint;
  count_ bigint;
  bytes_ bytea;
begin
  select * into r from leat.run where id = p_run;
  if not found or r.sample_bytes = 0 then return null; end if;
  most_ := greatest(r.part_bytes / r.sample_bytes, 1);
  if coalesce(array_ndims(p_samples), 0) <> 1 or cardinality(p_samples) > most_ then
    raise exception 'leat: % samples are asked for; 1 to % can be',
      coalesce(cardinality(p_samples), 0), most_ using errcode = 'invalid_parameter_value';
  elsif exists (select from unnest(p_samples) s where s is null or s < 0 or s >= r.samples) then
    raise exception 'leat: a sample is asked for that is not among the % of the run', r.samples
      using errcode = 'invalid_parameter_value';
  elsif to_regclass(format('leat.data_%s', r.id)) is null then
    return null;
  end if;
  execute format('select string_agg(d.bytes, '''' order by a.at), count(*)
                  from unnest($1) with ordinality a (sample, at) join leat.data_%s d using (sample)',
                 r.id) into bytes_, count_ using p_samples;
  return case when count_ = cardinality(p_samples) then bytes_ end;
end $_$;
ALTER FUNCTION leat.samples(p_run bigint, p_samples bigint[]) OWNER TO owner;
CREATE FUNCTION leat.serve_data(p_run bigint, p_fence bigint, p_epoch bigint, p_sample_bytes bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  r leat.run := leat.fenced(p_run, p_fence, p_epoch);
begin
  if r.sample_bytes not in (0, p_sample_bytes) then
    raise exception 'leat: the samples of run "%" have % bytes each, not %', r.name, r.sample_bytes,
      p_sample_bytes using errcode = 'invalid_parameter_value';
  end if;
  update leat.run set sample_bytes = p_sample_bytes where id = p_run and sample_bytes = 0;
  if to_regclass(format('leat.data_%s', p_run)) is null then
    execute format('create table leat.data_%s (sample bigint primary key, bytes bytea not null)',
                   p_run);
    -- Photographs hardly compress, and are read one at a time.
    execute format('alter table leat.data_%s alter bytes set storage external', p_run);
  end if;
  return leat.data_count(p_run);
end $$;
ALTER FUNCTION leat.serve_data(p_run bigint, p_fence bigint, p_epoch bigint, p_sample_bytes bigint) OWNER TO owner;
CREATE FUNCTION leat.set_state(p_run bigint, p_fence bigint, p_epoch bigint, p_state text, p_reason text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform leat.fenced(p_run, p_fence, p_epoch);
  update leat.run set state = p_state, reason = p_reason where id = p_run;
end $$;
ALTER FUNCTION leat.set_state(p_run bigint, p_fence bigint, p_epoch bigint, p_state text, p_reason text) OWNER TO owner;
CREATE FUNCTION leat.slot(r leat.run, p_kind text, p_slot integer) RETURNS regclass
    LANGUAGE plpgsql
    AS $$
begin
  if p_kind not in ('weights', 'state', 'part') or p_slot not in (0, 1) then
    raise exception 'leat: there is no slot % of %', p_slot, p_kind;
  elsif (p_kind = 'weights' and p_slot = r.weights_slot and r.weights_hash <> '') or
        (p_kind = 'state' and p_slot = r.state_slot and r.state_step >= 0) or
        (p_kind = 'part' and p_slot = r.step % 2 and r.step >= 0) then
    raise exception 'leat: slot % of % is in use', p_slot, p_kind using errcode = 'LT002';
  end if;
  return format('leat.%s_%s_%s', p_kind, r.id, p_slot)::regclass;
end $$;
ALTER FUNCTION leat.slot(r leat.run, p_kind text, p_slot integer) OWNER TO owner;
CREATE FUNCTION leat.slow(p_run bigint, p_machine text, p_words text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  perform from leat.machine m
  where m.account = session_user and m.id = p_machine and m.run = p_run for update;
  if not found then return; end if;
  delete from leat.event e where e.run = p_run and e.kind = 'slow' and e.account = session_user
    and e.machine = p_machine;
  perform leat.note(p_run, 'slow', p_machine, leat.tidy(p_words));
end $$;
ALTER FUNCTION leat.slow(p_run bigint, p_machine text, p_words text) OWNER TO owner;
CREATE FUNCTION leat.submit(p_lease bigint, p_epoch bigint, p_hash text, OUT why text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  k record;
  l leat.lease;
  r leat.run;
  u leat.unit;
  bytes_ bytea;
begin
  select * into l from leat.lease x where x.lease = p_lease;
  if found then
    select * into r from leat.run where id = l.run for share;
    select * into u from leat.unit x where (x.run, x.step, x.unit) = (l.run, l.step, l.unit)
      for update;
  end if;
  k := leat.lock_lease(p_lease, p_epoch);
  l := k.l;
  submit.why := k.why;
  if l.state = 'used' and l.account = session_user and l.epoch = p_epoch and u.lease = p_lease
     and u.hash = p_hash then
    submit.why := null;
    return;
  end if;
  if submit.why is not null then return; end if;
  if r.state <> 'open' or r.step <> l.step then
    submit.why := 'the step is not open any more';
  elsif u.state not in ('ready', 'out') then
    submit.why := 'another machine was faster';
  else
    execute format('select string_agg(bytes, '''' order by part) from leat.part_%s_%s
                    where lease = $1', r.id, l.step % 2) into bytes_ using p_lease;
    if coalesce(octet_length(bytes_), 0) <> r.payload_bytes then
      submit.why := format('%s bytes of %s were received', coalesce(octet_length(bytes_), 0),
                           r.payload_bytes);
    elsif encode(sha256(bytes_), 'hex') <> p_hash then
      submit.why := 'the bytes received do not have the hash';
    end if;
  end if;
  if submit.why is not null then return; end if;
  update leat.lease x set state = 'used', ended_at = leat.clock() where x.lease = p_lease;
  update leat.unit x set state = 'done', lease = p_lease, hash = p_hash
  where (x.run, x.step, x.unit) = (l.run, l.step, l.unit);
  update leat.lease x set state = 'superseded', ended_at = leat.clock()
  where (x.run, x.step, x.unit) = (l.run, l.step, l.unit) and x.state = 'live';
  update leat.machine m set seen_at = leat.clock(), bytes = m.bytes + r.payload_bytes
  where m.account = session_user and m.id = l.machine;
end $_$;
ALTER FUNCTION leat.submit(p_lease bigint, p_epoch bigint, p_hash text, OUT why text) OWNER TO owner;
CREATE FUNCTION leat.tidy(words text) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  select left(regexp_replace(coalesce(words, ''), '[^[:alnum:][:punct:] ]', '?', 'g'), 64)
$$;
ALTER FUNCTION leat.tidy(words text) OWNER TO owner;
CREATE TABLE leat.account (
    name name NOT NULL,
    created_at timestamp with time zone DEFAULT leat.clock() NOT NULL,
    accepted bigint DEFAULT 0 NOT NULL,
    confirmed bigint DEFAULT 0 NOT NULL,
    refused bigint DEFAULT 0 NOT NULL,
    mismatched bigint DEFAULT 0 NOT NULL
);
ALTER TABLE leat.account OWNER TO owner;
CREATE TABLE leat.event (
    id bigint NOT NULL,
    run bigint,
    at timestamp with time zone DEFAULT leat.clock() NOT NULL,
    kind text NOT NULL,
    account name,
    machine text,
    words text NOT NULL
);
ALTER TABLE leat.event OWNER TO owner;
ALTER TABLE leat.event ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME leat.event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE leat.machine (
    account name NOT NULL,
    id text NOT NULL,
    name text NOT NULL,
    hardware text NOT NULL,
    created_at timestamp with time zone DEFAULT leat.clock() NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    run bigint,
    accepted bigint DEFAULT 0 NOT NULL,
    refused bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    news text DEFAULT ''::text NOT NULL,
    CONSTRAINT machine_id_check CHECK ((id ~ '^[0-9a-f]{32}$'::text))
)
WITH (fillfactor='50');
ALTER TABLE leat.machine OWNER TO owner;
CREATE VIEW leat.events WITH (security_barrier='true') AS
 SELECT e.run,
    e.id,
    e.at,
    e.kind,
    e.account,
    e.machine AS worker_id,
    m.name,
    e.words
   FROM (leat.event e
     LEFT JOIN leat.machine m ON (((m.account = e.account) AND (m.id = e.machine))));
ALTER TABLE leat.events OWNER TO owner;
CREATE TABLE leat.unit (
    run bigint NOT NULL,
    step bigint NOT NULL,
    unit integer NOT NULL,
    state text DEFAULT 'ready'::text NOT NULL,
    lease bigint,
    hash text,
    CONSTRAINT unit_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'out'::text, 'done'::text, 'confirmed'::text, 'failed'::text])))
)
WITH (fillfactor='50', autovacuum_vacuum_threshold='500', autovacuum_vacuum_scale_factor='0.1');
ALTER TABLE leat.unit OWNER TO owner;
CREATE VIEW leat.gradients WITH (security_barrier='true') AS
 SELECT u.run,
    u.step AS iteration,
    u.unit AS work_unit_id,
    l.machine AS worker_id,
    NULLIF(r.unit_size, 0) AS num_samples,
    r.payload_bytes AS bytes,
        CASE
            WHEN (u.step < r.step) THEN u.hash
            ELSE NULL::text
        END AS hash,
    l.ended_at AS created_at
   FROM ((leat.unit u
     JOIN leat.run r ON ((r.id = u.run)))
     JOIN leat.lease l ON ((l.lease = u.lease)))
  WHERE (u.state = ANY (ARRAY['done'::text, 'confirmed'::text]));
ALTER TABLE leat.gradients OWNER TO owner;
ALTER TABLE leat.lease ALTER COLUMN lease ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME leat.lease_lease_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE leat.list_1 (
    part integer NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE leat.list_1 OWNER TO owner;
CREATE TABLE leat.step (
    run bigint NOT NULL,
    step bigint NOT NULL,
    committed_at timestamp with time zone NOT NULL,
    state_hash text NOT NULL,
    samples bigint NOT NULL,
    "values" double precision[] NOT NULL,
    workers integer NOT NULL
);
ALTER TABLE leat.step OWNER TO owner;
CREATE VIEW leat.loss_history WITH (security_barrier='true') AS
 SELECT s.run,
    s.step AS iteration,
    (s.samples / r.samples) AS epoch,
    v.loss_g AS g_loss,
    (v.loss_d_images + v.loss_d_fakes) AS d_loss,
    v.loss_d_images,
    v.loss_d_fakes,
    v.norm_d,
    v.norm_g,
    s.workers AS num_workers,
    s.state_hash,
    s.committed_at AS created_at
   FROM ((leat.step s
     JOIN leat.run r ON ((r.id = s.run)))
     CROSS JOIN LATERAL ( SELECT s."values"[array_position(r.value_names, 'loss_d_images'::text)] AS loss_d_images,
            s."values"[array_position(r.value_names, 'loss_d_fakes'::text)] AS loss_d_fakes,
            s."values"[array_position(r.value_names, 'loss_g'::text)] AS loss_g,
            s."values"[array_position(r.value_names, 'norm_d'::text)] AS norm_d,
            s."values"[array_position(r.value_names, 'norm_g'::text)] AS norm_g) v);
ALTER TABLE leat.loss_history OWNER TO owner;
CREATE UNLOGGED TABLE leat.part_1_0 (
    lease bigint NOT NULL,
    part integer NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE ONLY leat.part_1_0 ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE leat.part_1_0 OWNER TO owner;
CREATE UNLOGGED TABLE leat.part_1_1 (
    lease bigint NOT NULL,
    part integer NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE ONLY leat.part_1_1 ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE leat.part_1_1 OWNER TO owner;
ALTER TABLE leat.run ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME leat.run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE leat.state_1_0 (
    part integer NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE ONLY leat.state_1_0 ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE leat.state_1_0 OWNER TO owner;
CREATE TABLE leat.state_1_1 (
    part integer NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE ONLY leat.state_1_1 ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE leat.state_1_1 OWNER TO owner;
CREATE VIEW leat.step_values WITH (security_barrier='true') AS
 SELECT s.run,
    s.step AS iteration,
    n."position",
    n.name,
    s."values"[n."position"] AS value
   FROM ((leat.step s
     JOIN leat.run r ON ((r.id = s.run)))
     CROSS JOIN LATERAL unnest(r.value_names) WITH ORDINALITY n(name, "position"));
ALTER TABLE leat.step_values OWNER TO owner;
CREATE VIEW leat.training_state WITH (security_barrier='true') AS
 SELECT r.id AS run,
    r.name,
    r.model,
    r.step AS current_iteration,
    (COALESCE(s.samples, ((r.step * r.units) * NULLIF(r.unit_size, 0))) / r.samples) AS current_epoch,
    r.steps,
    s."values"[array_position(r.value_names, 'loss_g'::text)] AS generator_loss,
    (s."values"[array_position(r.value_names, 'loss_d_images'::text)] + s."values"[array_position(r.value_names, 'loss_d_fakes'::text)]) AS discriminator_loss,
    COALESCE(s.samples, ((r.step * r.units) * NULLIF(r.unit_size, 0))) AS total_images_processed,
    (r.state = 'open'::text) AS training_active,
    r.state,
    r.reason,
    r.weights_hash,
    r.weights_bytes,
    r.payload_bytes,
    r.units,
    r.unit_size,
    r.samples,
    r.coordinator,
    leat.holds(r.coordinator_until, r.hold_ms) AS coordinated,
    COALESCE(s.committed_at, r.created_at) AS updated_at
   FROM (leat.run r
     LEFT JOIN leat.step s ON (((s.run = r.id) AND (s.step = (r.step - 1)))));
ALTER TABLE leat.training_state OWNER TO owner;
CREATE TABLE leat.version (
    version integer NOT NULL
);
ALTER TABLE leat.version OWNER TO owner;
CREATE TABLE leat.weights_1_0 (
    part integer NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE ONLY leat.weights_1_0 ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE leat.weights_1_0 OWNER TO owner;
CREATE TABLE leat.weights_1_1 (
    part integer NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE ONLY leat.weights_1_1 ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE leat.weights_1_1 OWNER TO owner;
CREATE VIEW leat.work_units WITH (security_barrier='true') AS
 SELECT u.run,
    u.step AS iteration,
    u.unit AS id,
    (((u.step * r.units) + u.unit) * NULLIF(r.unit_size, 0)) AS start_index,
    ((((u.step * r.units) + u.unit) + 1) * NULLIF(r.unit_size, 0)) AS end_index,
    ((((u.step * r.units) + u.unit) * NULLIF(r.unit_size, 0)) / r.samples) AS epoch,
        CASE u.state
            WHEN 'ready'::text THEN 'pending'::text
            WHEN 'out'::text THEN 'in_progress'::text
            WHEN 'failed'::text THEN 'failed'::text
            ELSE 'completed'::text
        END AS status,
    l.machine AS claimed_by,
    l.granted_at AS claimed_at,
    l.until AS timeout_at,
    l.ended_at AS completed_at
   FROM ((leat.unit u
     JOIN leat.run r ON ((r.id = u.run)))
     LEFT JOIN LATERAL ( SELECT x.machine,
            x.granted_at,
            x.until,
            x.ended_at
           FROM leat.lease x
          WHERE (((x.run = u.run) AND (x.step = u.step) AND (x.unit = u.unit)) AND (x.state = ANY (ARRAY['live'::text, 'used'::text])))
          ORDER BY (x.state = 'used'::text) DESC, x.lease
         LIMIT 1) l ON (true));
ALTER TABLE leat.work_units OWNER TO owner;
CREATE VIEW leat.workers WITH (security_barrier='true') AS
 SELECT m.account,
    m.id AS worker_id,
    m.name,
    m.hardware,
    m.created_at AS first_seen,
    m.seen_at AS last_heartbeat,
        CASE
            WHEN leat.holds((m.seen_at + '00:02:00'::interval), (120000)::bigint) THEN 'active'::text
            ELSE 'inactive'::text
        END AS status,
    m.accepted AS total_work_units,
    (m.accepted * NULLIF(r.unit_size, 0)) AS total_images,
    m.refused,
    m.bytes,
    m.run
   FROM (leat.machine m
     LEFT JOIN leat.run r ON ((r.id = m.run)));
ALTER TABLE leat.workers OWNER TO owner;
COPY leat.account (name, created_at, accepted, confirmed, refused, mismatched) FROM stdin;
ann	2026-11-29 01:29:03.151197+00	13	0	0	0
\.
COPY leat.event (id, run, at, kind, account, machine, words) FROM stdin;
\.
COPY leat.lease (lease, run, step, unit, account, machine, epoch, kind, state, reason, granted_at, renewed_at, until, ended_at) FROM stdin;
13	1	4	0	ann	9598a5cf3d190b2d4449ca167202e78f	4422581305661924708	work	used		2026-11-29 01:29:07.863162+00	2026-11-29 01:29:07.877809+00	2026-11-29 01:34:07.877809+00	2026-11-29 01:29:07.87882+00
10	1	3	0	ann	9598a5cf3d190b2d4449ca167202e78f	-4445193174838749233	work	used		2026-11-29 01:29:06.699371+00	2026-11-29 01:29:06.74121+00	2026-11-29 01:34:06.74121+00	2026-11-29 01:29:06.744627+00
11	1	3	1	ann	9598a5cf3d190b2d4449ca167202e78f	6557790356231019030	work	used		2026-11-29 01:29:07.098025+00	2026-11-29 01:29:07.156127+00	2026-11-29 01:34:07.156127+00	2026-11-29 01:29:07.171028+00
12	1	3	2	ann	9598a5cf3d190b2d4449ca167202e78f	-3261297643390482845	work	used		2026-11-29 01:29:07.489814+00	2026-11-29 01:29:07.531904+00	2026-11-29 01:34:07.531904+00	2026-11-29 01:29:07.539091+00
\.
COPY leat.list_1 (part, bytes) FROM stdin;
0	\\x7b0a202022666f726d6174223a20226c6561742e696d61676573222c0a20202276657273696f6e223a20312c0a202022636f756e74223a2032342c0a20202273697a65223a2036342c0a20202266696e6765727072696e74223a202265313366623231643461623737316235646362653931646362636363643065616266656136396335356135656534353934363530613961626533366266393561222c0a2020226465636f6465645f736861323536223a202237323063373231646638393033656364343338626632636563326565323936336264346462303133363334373239373630393234646133343134363661313666222c0a202022736f727465645f736861323536223a202237323063373231646638393033656364343338626632636563326565323936336264346462303133363334373239373630393234646133343134363661313666222c0a20202272656a6563746564223a20302c0a20202266696c655f6279746573223a203239393030382c0a20202270616765735f78786833223a202236393633373334666133333833666230222c0a202022696d61676573223a205b0a202020205b22612f303030302e6a7067222c36342c3132382c2230303030303030303030303030303030225d2c0a202020205b22612f303030312e6a7067222c37342c3132392c2230303030303030303965333737396231225d2c0a202020205b22612f303030322e6a7067222c38342c3133302c2230303030303030313363366566333632225d2c0a202020205b22612f303030332e6a7067222c39342c3133312c2230303030303030316461613636643133225d2c0a202020205b22612f303030342e6a7067222c3130342c3133322c2230303030303030323738646465366334225d2c0a202020205b22612f303030352e6a7067222c3131342c3133332c2230303030303030333137313536303735225d2c0a202020205b22612f303030362e6a7067222c3132342c3133342c2230303030303030336235346364613236225d2c0a202020205b22612f303030372e6a7067222c3133342c3133352c2230303030303030343533383435336437225d2c0a202020205b22612f303030382e6a7067222c3134342c3133362c2230303030303030346631626263643838225d2c0a202020205b22612f303030392e6a7067222c3135342c3133372c2230303030303030353866663334373339225d2c0a202020205b22612f303031302e6a7067222c3136342c3133382c2230303030303030363265326163306561225d2c0a202020205b22612f303031312e6a7067222c3137342c3133392c2230303030303030366363363233613962225d2c0a202020205b22612f303031322e6a7067222c3138342c3134302c2230303030303030373661393962343463225d2c0a202020205b22612f303031332e6a7067222c3139342c3134312c2230303030303030383038643132646664225d2c0a202020205b22612f303031342e6a7067222c3230342c3134322c2230303030303030386137303861376165225d2c0a202020205b22612f303031352e6a7067222c3231342c3134332c2230303030303030393435343032313566225d2c0a202020205b22612f303031362e6a7067222c3232342c3134342c2230303030303030396533373739623130225d2c0a202020205b22612f303031372e6a7067222c3233342c3134352c2230303030303030613831616631346331225d2c0a202020205b22612f303031382e6a7067222c3234342c3134362c2230303030303030623166653638653732225d2c0a202020205b22612f303031392e6a7067222c3235342c3134372c2230303030303030626265316530383233225d2c0a202020205b22612f303032302e6a7067222c3236342c3134382c2230303030303030633563353538316434225d2c0a202020205b22612f303032312e6a7067222c3237342c3134392c2230303030303030636661386366623835225d2c0a202020205b22612f303032322e6a7067222c3238342c3135302c2230303030303030643938633437353336225d2c0a202020205b22612f303032332e6a7067222c3239342c3135312c2230303030303030653336666265656537225d0a20205d0a7d
\.
COPY leat.machine (account, id, name, hardware, created_at, seen_at, run, accepted, refused, bytes, news) FROM stdin;
ann	9598a5cf3d190b2d4449ca167202e78f	a machine	2 processors, 4.0 GiB	2026-11-29 01:29:03.152807+00	2026-11-29 01:29:07.879039+00	1	13	0	66508	
\.
COPY leat.part_1_0 (lease, part, bytes) FROM stdin;
13	0	\\x6c656174756e697401000000010000009cd3f5243772474308de7409d0c1aed30400000000000000000000000000000080d541739f3c71cde37f8b90bce6bc6a6d8062b33f3daf4dd43baa4443bde9d7000000000000000000000000000010405a08000000000000ac000000000000000300000000000000fc13000000000000303ea6bd833e3f3ecf3d29bf293f4fbd42bfc03d433d1fbd843d2bbdb63e513ea03c8fbee6bca33e36be033f903e013d433c403d463f31be173d933e3f3e023caf3ef5bccd3e84bea43dc6bc9ebe283e1a3e313f71bebfbd24bc99bd60bd0ebf52be2a3e3a3e223d17bd07be7fbe9fbe0dbe89be953a053fefbd80be733ee73e823e15be353e79bc943d6abce6bd21bed1bc8b3d79bfafbc97bd72bea63d893c64bc4f3db0bd513d113e8dbdf83d333da5bea13e863d833dd03da9bda1bc4bbe0bbdcb3ca4bc053ec8bd053d80bc223e9f3ed03e35bdbbbef4bd0dbea53b273c38be79bef53d3dbd4abe623ff5be29bfa33bd03e36bf8ebdebbc5ebe8b3de43eb33e613f403e76bf30bee1be88bf303e70bf6c3ee4bc2e3f43be3d3fad3f453fcebe103f41bd43bf45bf4a3f094089bec8bd8cbe1340e1be163e35bc4f3ef23e083f8b3e3c3e2d3e633f2cbec83eacbf9abee1bec83fe83deebd823d8fbf92bf1f3f72bfdfbeab3d183fd5be5cbe2cbf0d3f15beb83d903f283d10bfacbe143fa7bdbd3e203fc43db23e35be62be853c703e20bf73bf8dbd4f3e86be9e3f063d6fbff2be9fbda73e4ebf1b3f6d3f17be95bfdfbe33bde4be663f893e1dbe88be38bf083f7d3ed63cb03e33bf2f3f24be55bf883d543f64bf13be0e3f02bd323f9a3e953faabe933dbe3f2b3e133e79bf773d99bfcabf993b45beeebf503d993f813da7be3b3efa3e49bdd6be2ebf273e82bcba3d973d95be133e3bbea73e7d3d82bedbbe303cd63e90be1d3e9bbe723d40bd803e833e4ebe5f3d15be123ec7beda3de1bde63ebbbebe3e61bd8b3e0a3f79be1c3f23bf843ddfbcc1b90abf8abec0bef03ef0bc6cbb773ebfbd0e3d42beb43e9bbebb3d203e18be22be89be5a3eca3e18bd263ed53c093e853d883c67be0bbe983e89bfddbcbb3de8bc34beb23dcf3e62befe3c88bbd33e5dbec03dfb3d88bda1beedbc90bebd3e923d8e3e72bd613c8d3e683c423e773ea73e083fe2bd8e3e72bfe4be01bf4fbca33e7e3daabe763e14bf103e9e3d26bf753fa63ec0bdd23c95bd1bbf373d063e30bf363f9d3e503e0abf833d223f553f9abe0040b4be9fbf143e0d3dadbe0f3e08bf80bec2be2a3fe8becbbdfb3e663fdd3daabe163ecc3cd43d323f5dbe31bebf3ea33e08bdaa3edfbd533f45bf77bf883e5cbf7f3f313f823e7bbf13bed63eecbcef3f41bf23bf1e3f3a3f763e7dbfc5bd853e95be39bff4be4abe5d3f77be34be263f253e1e3f05bf053ea5bd53bf193d6f3e9bbeb9bdab3e10c014bf6cbe07bf74be9f3b3a3e5d3f2e3dbabc083fbdbe053fe33da9be953f443eaf3ea2bec7befebd9ebc573e4fbf59be663e03bf733e0fbf0a3f883fbc3f98bebdbe0f3e42bfbcbc4cbd3ebf6bbfc53e59be67bfe93fc1bf44bf3fbdd03fafbf73bc8ebd4e3f3fbe213f553dd3bc973ccbbd9b3d433ad3bdaa3db53d30bd013df9bd9d3d4a3d52bc973dc9bdb13feebc1cbe1f3f9bbed8be92bfdebe293f21be3abefc3dc7be013d9c3e7b3db4bd8f3ece3dfd3d213e273fc7bcdebe0b3fa0bed5bfbd3e143fb93dcd3d083ef83e833d953c923e09bfcbbde6bed8be953feabe993fdabc8fbef33ed1be513ebe3e5b3ea63f1abf303e1fbfe6bc83bd3ebc7cbebc3fcfbfd7be63bf923e833e043f253e1f3ff3bd3e3f2d3ea93e6bbd3abe77be87bfedbd7e3eb9be173fcbbdc9be14bec7beb7bd10beb23e813c123edfbf333dfebf28bcd03e8bbdb93d6fbdfebd393f73be933fbebe443f8e3d91be963fe23c77be89be23bedc3edd3c353d943daabe48bf2bbe09be403f84bd1f3e1d3fdfbe7b3f65bf083e2ebfd23ec53c263e6c3e8c3e0cbbdebe06bde5bef1bd9e3faf3dcdbee83eb93a29be423ee5be67be74bd813fd2bd073cc83e1a3e82beaa3e6a3e8abf883e0c3f323e6b3df73dec3d023e983ea0be35bf553f873c3bbfa13f24bee33e193f9abec13ed7bed83de03e0cbdfcbd55bf93ba103efbbe7d3c8f3dd9be6d3fa8bf223f79bfeb3e3f3dadbe093bbd3ea0be653e593b193e80be9cbcbc3d3f3ed23cd03ed9beba3e0e3f19be223ebabe783e843db73d82bc883e37bf093fd2be9dbd27bd823d1dbeff3d7e3eb5bcd63c9e3e93bfd23e76bfe6bec13e18bfa5bef43e94be6b3e2dbdaabf8f3eccbea33eb73e6d3e843dd53cfabe843fb2beab3e943e273fb4be993fc53dd83e6e3d3e3ce03d143f143d113fe23dd6beb6beaabdb7be1e3f813d5b3ff43cc8bdeb3ca9bfb83e173df2bd343eeebc04bf0c3f1bbf7dbd0cbe623e03beddbdca3e403e453e283f1cbe033e5bbf28bdbdbde3be4c3d1b3fe53e0c3fb03e0d3d8dbe82bea5be49be243f913e763e2c3b1e3e83bc473fb53ea23e31bfe53c853d9bbebe3d563fb53de73ac3bd593f383ed1be37bb2abf3dbd843d2abe983eaf3e88bf163f33be1d3fc4bd0fbf263d0bbfdbbd713c07bed6bdedbd923eeabdf13c1ebe51bd143e41bff43da53d60bfc93d65be43be52be2e3fd3bc493f1f3efabe143f40bf1dbf3e3d633f38bf2a3f53bd923e103d043fc0bef23d5d3c58be183efe3dd03c083ec63e073f2fbe43bfa23b62bf7bbe9e3e24be8bbc8c3d703fd2bb0e3e23bf81bea83e013e293f613e25bf94be183defbedabd5e3d903d03be75bd143fd63d433fc23eccbd1bbe41bf953e363ea9be55be04bff4bea03f613e0abe53bfcfbe50bf4b3f313f33bf103e03bd573fa2be823e84bff1be0fbf333e973c69beac3c523ebf3e523e29be133f7cbeb1bc2dbea8be20be463ebebe9d3e86be56bf093f44bf733d97bd3f3e3fbed23dc4bff5beddbf5cbd4abe88bd27be2bbc763edcbc1dbd493e45bf873d323e01bf6e3fc73ccebe9cbec2be55bf9b3e113d843f80bd82bd443fb43eb13eb03eacbe693f2dbd813f48bf573f4abf7abd183edabdf43b43bdad3d823c173e0d3dcd3c193f1540b23e3fbf3d3f60be44beab3e223d27bf52bf25be4b3f1bbf0d40b53f433dbc3ff3be55bd2cbf9c3dee3e033eaabe5cbfedbe6bbcecbedc3e14bfaabe1abe873d8abfc13e9d3ec4be273fbcbe253e083f88be5d3e993f3d3f3ebf203e8dbb2cbe46bedebeedbefe3b04c0043f86bebd3f3ebe5bbe35bf8c3fb5bd0a3e08bf043f5a3e7d3e673da23eb0bf7b3f133f52bd2d3d11be29408ebeefbe9c3e11bffa3f8ebda23f77bf1840dcbffc3e0cbef8bfcf3f983e4a3f013e48bf023e5ac001bffebfe23e163fce3f3f3efcbdeebe973e4b3e123f9dbd503e3f3e3d3fbcbef4be62bed53f1ec03f3fa6bfd33c8abe02bf0bbfad3eb8be91be27bf633e66be6c3d5bbd20bd983fd83f9bc05abfc73ff93fe43e0340f5be103f813f433f0d40933f684039be37c00fbf8140b73f47c0d7be3d40a53f9b3a04bed6bd4a3f6b3f893faec0223c1b3e5b3f66c028bf0c3f88c09abf853d8a3f8e408dc0fc3f2bc0f1bf0f4052c016c03b3fed3fa93c5ebe2c3d39c059bdb33e803e433f0b3fa43f143f433ebabeefbfdc3f133f1dbf5bbe613f56bf9d3ea83c4f403640913f643f434024c08a3f00c09a40e640d13f6740e340924010415f40b040cd409c400d41b440ef4008419940a8409040d740df40ea3f48401f3feb40203e8e3fee3f5c40623f504039be873f34bfc5403e40cc400f402fbf1540d83eca3f23402ec0da40943f1c402e40fdbf29c016c092c089c004bf01c099c099bfecbff33f0a3f3cc08dc01a40a6c0bb3eb7c0873ed2bfe8bfa1c088befcbfa73ed9be30c0703f873f5ec0cdc05ec081c0193e26be0a403bc06c3f3bbf33bf80bf35c0143f23bf45bfc03ed0bfd8bedd3e97bfa33eb5bf593ef6bf873a10be85bfeebeebbe8abfb1bf9cbfd3bec6bf1abf82bf93be30be89ba2140263e7c3f113ff03f943fb83f033f21bfb23e80bf2440663f80bfad3e83bfd03ff83f2f3f183f5140993f13bf303f17402640af3fa0bdb43f9a3f14bedbbef4bcbe3eee3ebebe1dbdc63e29c04f3f343d9dbf14c0d63d1040013e143e18bd9bbfb1bff0bedfbe8abf74bfadbf63bf42bf37bf01c07abff23f843f81be0f4094bf8f3f41bf2dbf1b3e53bff3bd8bbe8bbea1bee0bd00bf4fbfb43d78bf923ea6bf12bf323e04bfa2bf323faebe05bf403d2ebfc2befbbeb3bdac3ede3e823fcebd59bc3d3e90bdc93cd1bcab3d15be533d8f3d52bdc0be823e0cbe743d08bdbd3c203d9cbb843e1ebe76bed1be0e3d98ba48be4a3e8cbd5c3e96bdcc3eaabd103d003d9f3daf3c13bda4bdb6bd043dc33dd9bd78bc2a3e233ec0beb9bc66bb01be053c113dfc3dac3d22bedfbc933d22bc013d9ebe07bdad3ca1be9bbe7cbde73d023d483e723c893d0e3ee23b003eb0beed3e4f3e113fb2bf87bfd6be223ed8bf7cbfc9be16bffa3e38bfeebd1c3e433e893b42bf553d8bbeb83d8cbc0abf633ff83e073fd83e823ebc3e01be3e3e83bff83eea3e91be3cbf35bf83be27be453f7bbfa83e61be0fbff3be1bbf213e94be7dbf1b3f0f3f6fbecfbf44bfbabdc3bff9bf1bc040bf603c65bf30bf3dbf8bbf4dbd66bd463e45be43beae3ec63e46be33bf003fca3eec3edf3e99bd4b3e713dd73d943ed13d973e883eb83e083e8e3e94be0b3d7cbdd1bd57bee1bd8ebd0c3e09bf12be503e31bd123f903ecc3e723dec3ef5bef8bbf63e323fc9be993d05bf08be83be87bdafbf89be8a3eef3e26bf663eacbe0c3ec93e0a3f18bf023fd7be7abd413fce3ec8be363ff13e073c913e883e333f13bde33e033f023fc7bef53d113d17bfee3d3ebea73dc4be2fbe253ebbbcf8be103ea8bd92bddfbcdf3dcc3e053f1a3f973d313f4e3f3d3e943d7b3f433f823f10bfc13ff73e61bff1beabbeb53cf63e773e23be09bd473f593eba3ee73e0bbd4dbdb93f4b3fb63daebe7d3ea5bdc2bf8cbf413f34bfedbd8bbf0c3ee63db9bf94bf5a3f1f3fa3bee0be13bfe4bdb5bec0be533f4c3e3b3fe23e6bbd5dbe393ebcbe6dbff43dafbea93ec63e9bbeb4be20bf883f8cbf86bf4dbff73e5f3ea9beeebe94bd3dbe48be08befb3d323c23bfffbd2e3f6fbfa9bfb5bf363faebd0cbf0cbfa03fb93e92bf46bfb43e013f3f3ce23d333ddbbee9bc0fbf86bec8beecbe0cbf9bbe42be93be453fafbe083edebed23d033dc13d283c22bd23be093db0bcc93e99be413d01bf48bd353ef8bdf93d20bf073f0abf0e3e96be42be16bd0b3fc83e833e5d3ee73c203fa73e113e6a3d613dd23e96be59be51be8cbe1cbf24bf4dbd923e033e8d3e02bed23ea53e56be17bf5e3f763fb13fa83eab3f273fc73fa93f413eca3e9fbd0e3e5f3db13e7abd69be10be46bd913fe3bd963c01bf993e9dbe603e6e3de4bda33d4f3d0a3f863fb6be393f1c3e373f7dbed1beea3d72bfa03faf3e01bdc33e323f8f3e2839013f1a3f61bec43ebcbe1abef33ac43ed63c4a3f853f853e273e623f363fa63ebc3e82bed63d9fbd96bd193fbbbd1d3f143fcc3e4cbfdbbe833e053f033dd2be863d86bdd4bdcebe7fbefdbdbdbdeabdec3e03bebc3da6bdf43efabd89be0c3f683d0a3f30bd013f293f783f36bf42be573e153e8dbf23bfc53e3b3c0d3f883e433e093e133f573f3f3f493f32be943e723f293f13bf81beca3ebc3e00bdccbc9abc3e3e93bdbcbd24bcb9bc1abde2bce03bfc3d17bde0bd453c93bd12befe3fb63f14be3bbf2740204032bee9bfe13f853ef5bd27c0a5bf7abfe7bd43bd18bf6b3db43e853ef03ec83f923f99be08bfe43e813f9fbf4fbf853f34bf76bec4be08408e3fcbbfc83e23408d3fc7bfe2bfcb3f753f45bff5be61bf693f73be6ebfeabf54bd023ebc3def3f0340f73b06bbb8bedc3fbabe85bfea3fedbedfbeb6bfeb3f243f09bda2be053fbbbe90bf973e9f3f9d3ea23f5ebe163ff43d0ebfa23fb2bfc0bfa63fa23f0e3de3bf923f3e400cbe16bfcabfb63dee3ff3be61be3ebf44bf723ff33e6cbd493f0e40f33dc3bfdb3ef93e4c3e6fbe823f50bdffbe51bf8ebf473f903ea3be3dbf7d3fbb3fc3bd8ebd1840f93ef03eaebe86bf93e183bab42d7d3be43bb439811643bbd93b4fbb0002b536282bf0bb602114bbbfe0453c24efbebcfcab8f3cec37d1bcdc0dbfbccabf04bbd8c16b3c86786d3a64ba2f3a827b733a61991a3a76218d3a45a47b3abb70263adb8e483a467a863b1a1cb23bc244a03be20e823b1a50773b50de5d3bf69f043bd09c87b9145217ba30a3ad3b9b02ac393bd2e33a31f6c13aec26283d6000093ddbcb233d768dfcbcf2a3963c79436cbd860bb8bb52fa24bdc94aa133d9b8d033bf989d38bc4e5236e69c063728e63b388fd53b3c8279343bcdc9c13bc4bc273b64a18c3b2926773baece443b87fe843bba9b5737fc61c5387f760a390d65deba4708073b9c59853b62db933dc152b1bb3f3b7e3dc1bc5f3c0a44323c0eb6143d8f73bbbb904307bd65bbee3278485932a9adf836c26d8136d2454937a536bb37cdf51f3c6a5a5e3b32975e3c3bfa973b4b26913b818e603b07ad033b19ef753b043036bb7c42d1bbb50498bb623e84bb680e1a3a36948f3b1e9cd23b9e66863b0521133c6ec4cabcb9e23a3c307cbcbcbef3acbc3f7904bb99bb543c1f290e3ac870053a7ffa3f3a6eae2a3ad8d12f3ad70c883a8327293a4093833af7638b3b9b4dc43bb826963bdda15b3b8633703b53ea433b3e6f0e3b9a8665b9b065ffb9812a313cce0f41bae0188b3b15c8a43b698b5d3d5b297d3c63e3043d4041e9bade78173d63a9d0bc2c9c8bbc7c0b5fbd28d884347b03d9346bed403ab8287e38ed98133949c1653981f7083d3c49df3bccc2893c3568383cd5ed9a3c1db86e3c33677e3c111aef3c48512f3760e8b1385e2a17399331debab01d033be7ae8b3b8580863d83148a3cacd1233d497f953c251f143cb073ef3c23ef35bcd256fabcdb2e123329208132b40f28375cdabc36b7b05d37740413381dbc803c90ccd63bfecf4c3c4a6abf3ba1f8223be4ea2e3b42cc5f3b890a8c3b000000b8dc1a0340000000e88d260840000000c8f65f0440
\.
COPY leat.part_1_1 (lease, part, bytes) FROM stdin;
\.
COPY leat.run (id, name, created_at, identity, settings, model, model_hash, value_names, data, data_note, samples, sample_bytes, list_bytes, kernel_class, leat_version, units, unit_size, steps, payload_bytes, weights_bytes, state_bytes, part_bytes, memory_bytes, lease_ms, renew_ms, silent_ms, hold_ms, state, reason, fence, epoch, coordinator, coordinator_until, step, weights_slot, weights_hash, state_slot, state_step, state_hash) FROM stdin;
1	run	2026-11-29 01:29:02.753075+00	9cd3f5243772474308de7409d0c1aed392657100d02ab3b16388e47ba49ade79	{"steps":"6","width":"1","latent":"4","schedule":"simultaneous","units":"3","unit-size":"4","micro-batch":"2","codec-up":"bf16","codec-down":"bf16","learning-rate":"0.0002","beta1":"0.5","beta2":"0.999","seed":"0","checkpoint-every":"0","checkpoint-minutes":"10","keep":"1","sample-every":"0"}\n	dcgan	387e76fe1dd0fd37da4a1b6947ff7c38c1e5c2d8cdc3ba1780ebee20a71b7cb4	{loss_d_images,loss_d_fakes,loss_g,norm_d,norm_g}	e13fb21d4ab771b5dcbe91dcbcccd0eabfea69c55a5ee4594650a9abe36bf95a		24	0	1553	987ed34e963da973	0.1.0	3	4	6	5116	4276	25904	1048576	0	300000	10000	30000	15000	open		2	4140073150128052596		-infinity	4	0	80d541739f3c71cde37f8b90bce6bc6a6d8062b33f3daf4dd43baa4443bde9d7	0	-1	
\.
COPY leat.state_1_0 (part, bytes) FROM stdin;
\.
COPY leat.state_1_1 (part, bytes) FROM stdin;
\.
COPY leat.step (run, step, committed_at, state_hash, samples, "values", workers) FROM stdin;
1	0	2026-11-29 01:29:04.158181+00	0ac310afad7c09a83926e0fc5b3ee6af97b2f24462dc389adddfbedb7a8692c2	12	{0.6769956052303314,0.7436676124731699,0.6480246583620707,6.557146231466013,4.914018605648761}	1
1	1	2026-11-29 01:29:05.326225+00	5c93b5d02416bbba62190281470622f045394d091857147e378eb61b1dac88d3	24	{0.6367054308454195,0.7610371460517248,0.6325600445270538,6.657657774716225,5.1712940070465185}	1
1	2	2026-11-29 01:29:06.402479+00	7a186f84e47d1d579221ce7d896c8e9cad71b34817471c4064797fabd1e274b0	36	{0.6480716317892075,0.7268533507982889,0.6615332315365473,7.503843522560239,4.6587601293240235}	1
1	3	2026-11-29 01:29:07.582425+00	fb7182c5e9017b4f0efd85c2773e7d6fd3ae247f9c8d3a9e3f90eb85d4bb790c	48	{0.6529662335912386,0.7435178806384405,0.646373967329661,6.438412296978509,5.736614910599147}	1
\.
COPY leat.unit (run, step, unit, state, lease, hash) FROM stdin;
1	3	1	confirmed	11	4f30e6129244e34fd3c8cf9b383f34e0c36dbde398ff4b3b5da1cb1e6f10b70c
1	3	2	confirmed	12	029eb19bc65ad098232583cabb5293ae733b155c6a81221faf4efe2425248214
1	4	1	ready	\N	\N
1	4	2	ready	\N	\N
1	4	0	confirmed	13	afb06db49bc22f3bfc8ca47b65442becbf1b71491aa797124c3a204a0d6510aa
1	3	0	confirmed	10	61a350fecd67a986685f3b4f5ed87f9f4f8b4b58cf1eca72fed49be82e9bc15f
\.
COPY leat.version (version) FROM stdin;
5
\.
COPY leat.weights_1_0 (part, bytes) FROM stdin;
0	\\x273d86bbe9bc0b3bb7b911bd61bc8e3c823c0fbdaa3b5f3c62bcd2bc59bb0a3d523c9abbbe3cbcbbb13c83bc08bd8b3cf3ba9c3c133b7d3cc43c763c003d1b3db5bcfbbcfeba6abbbeb914bd5b3c8f3ca83b10bd95bb9c3c7a3c25bbe73bfaba893c0cbcc83ce3bbf13be03cb83c1ebb143dddba903be13cc13cedbbf5b696bd04bd923ca73cb03c943b253d5dbd993cce3c23bc0bbd0ebd11bbb43c963b933c503ca0bc123cc1bb1b3a1d3c5abd5a3b4c3c103d383d3abc663c213d383b07bd653c82bc91bb913cae3b14bd2fbd5dbb19bc57bcce3b3f3c71bc8d3c8c3cfcbc473ddabc3c3c153ab83b10bd9a3c87bb61bc2f3c69bd90b9de3ca0bb283b78bc87bca13c5e3b873c3abc72bcd8bbca3ca4bc14bd083ca83cfc3cba3c87bcdbbc3fbcd43be5bb4c3c22bc85bc443b963b01bc9a3c53bc19bd3b3bcbbb59bc1a3cce3aff3ce0ba63bba9bc20bdc5bb993bc63c5abca03c40bc29bdb73b82bb47bc303cfb3ca93c5ebc153cd3bbd1bc3dbcbabc243c18bb17bcf8b845bbaebb393c53bcfd3c07bc663bd1bc023d37bbb43be73cde3c573ba9bc17bcf8bcccbb023ca0bbabba1abca33caf3cd53c90bbcf3c543c94bc9d3859bbd5bcce3cb73c55bc523ba53b083dec3cb9bbd43cba3a073c103dd63c523c0c3c9abcdfbbc2bb083ddbbb513dcb3cce3b833c2b3c87bc08bc613cd33c9ebc32bca63cb4bc75bbb5bcbb3bb23c36bd983c6abc9fbc853bc33c4cbbde3ade3c96bb293dffbb823c2d3dc13c733b423c8d3b09bdaabb943c0a3cb93c103c37bda73c3c3c01bc1abcbfbc6b3a3d3d063d3ebc9c3c9e3c833c2bbd313d2cb9fcba6c3c013d7b3ceb3cfbbcbdbcf0bcf9bcc83c5e3b2e3ca43c9e3cef3c393bcd3cafbcc73c073de53b9d3c63bc8abc9abb153d31bcab3c6f3bfcbab8bc1f3d913c503c13bc8abc003c54bc0dbd0bbcd13c70bce5ba62bb10bce1bc2bbdcc3b133ca1bcc8bcabbbc9bc4fbcafbc703c08bc523bfbb952bc6bbcf63c04bd9fbc0abba4bc1abc9cbc6d3d23b9ecbba5bca6bc6f3cf43beabbd9bc853b513beebc42bbd93b07bce93caebc6c3c99bb593c82bc413b46ba5abc293b0e3de6bbe1bc2cbb7e3c8fbad83cc53cda3bd03c4ebcf8b9273b0b3df6ba3c3a0bbcc13b8e3cddbc193cb83c113df7bceb3b2d3c8dbc1ebdacbc6f3c023cb43a7b3c003d18bddebaca3b013bcc3bdd3b813c32bdc63cd43cd9bb7a3cbcbc0b3bb4bc143a94bc2e3d27bcdcbc06bc663c033c9cbcc83c653bf03a89bc4ebcd6bc5bbd59bb433c34bc973cff3c353c8fbc04bccdba573dea3c17bddebb39bc88bc05bcbbbcb33b533c493b0c3d523c103cc9bce9baac3ccfbce53c7b3ca3bc673b543cf63c353b0a3b2dbc7abcad3b30bc133d2a3c4c3c2ebd7d3c6bbc00bd07bc493c923b0ebba5bcd43c61ba5a3c2d3bccbb803f803f803f853f853f803f803f7f3faf38533a4539d83952ba5dba7eb97239d93c9ebb1ebc8ebbc43cecb8d63c653c883cb13c0fbc50bcb83b52bb1bbca6bc99bcaabb81ba9a3b59bb4abc9a3c94bc833a4cbb0d3b713c0a3d3f3c07bc273db7bc6abc1e3ce63a393dfcbb9f3bc8bc75bc123c8ebc6e3b913c5cbdf33c153dbe3bd23cdd3cbebbc13c113c07bd283b2bbde8ba83bc4c3cb03c093c9cba7abcc2bcf83bac3c97bc9bbcf23c043bc53c5bbca0b9593c13bc03bd81bc99bac53cc13ba83c9f3bf53ae3ba39bdd23c793b3dbc503cc9bcf53c10bd6d3c3d3c353be1bcd4bc923cd03b70bc4eba3dbc1e3c0bbd8f3c8b3c2cbc85bb8d3cc03c07bd33bcd3bc85bc233c3dbc77bcd7bb20bce2bbf8bc273cc3bbc43cd73be3bca03c00bc7f3c6d3c963bbdbb6dbcdcbcba3c54bc1ebba2bc1aba96bce1bcdf3ba53c0c3de7bced3c973c53bc5ebcbe3bbeba21bc01bdfbbca9bb51bc4cbc85bb88bcc53ce5bb6d3ca13be2bc9b3b493d8ebb0d3dec3ca8bc153c99bc96bbc6bc783c85bc41bca53c483ca13cb4bc54bc71bc16bc813b84bb583a72bc3c3dfd3cdfbc50bc343bb33ba0bc7bbac5bc443ce53a23bc43bc25bd34bc8fbaa53cd43ca2bc29bca83c8a3c003bb5bc05bcfc3beebc2ab94a3cd13b75bcf9bb9dbc5fbcb7bcc93c43bc59bc493b21baf73bcf3aac3aea3c60bc563ce33b393c9a3cb4bbe9bc5abc9cbbe03c19bcf1bc37bba5bc5abc62bb833b61bb89bb5fbc48bc323c27bc24bbc03cf23b883c8cbc3abc17bc2a3c1a3d3cbbb73cb73ccc3c233c813cbf3ccfbb9b3c8e3b02bdad3ca83c7cbb5fbb633c22bcf8bb19bdabbbbdbcb9ba3abd4fbc0dbd91bb27bc8b3c823c5a3b5e3d5e3ba6baeeba303c30bc9e3cb3bcfa3cc7baf9bb543cbcbb62bcd93c153c863cf2bb6abc1b3cd7ba053c19bb72bb98bc9dbcdf3cbcbc0d3c0abd30bc5c3cb03c1b3cbdbb88bc783d73bc03bd36bd57bd803baf3c1b3d03bc4ebce1bc07bc0b3cdcbc623c023ddfbc88bc47bba3bc94bbadbccb3b93bcaf3c203b8c3c65bc8e3bccbaaabc5f3b543ce23c2bbc683cccbc2a3de13c45bc1c3dd43bd03a21bcd7bbe6bcbfbab0bc663c2dbc7bbc2fbd2cbb79bc4dbcf8ba44bc3d3c1e3c363b783ca8bc9c3c2e3bbdbb27bda5bba1ba933c54bc813c423d583c1bbc6fbc83bbd93cf03ccfbc28bcd83cf5bb5f3c213c823bcf3c64bc2cbc37bc923cb9bcde3cf23c31384b3c61bb2ebc213ca23cabbc87bd5e3aaabc2cbd9b39d9bc60bb5fbc19bcaa3bb83c443c8fbb273b3cbc36bcc23b893aab3c2bbcf4bc153b7d3d483c5b3cf23c88bc79bc87bc8d3c773cab3b303d2ebd433c693c03bca1bcc23c593b0ebb91bce0bb753be6ba3c3c5bbd57bd35bdec3cc83be5bb253d143d06bb923cd1baa8ba773b0dbd10bd733c973ce63a2fbc62bce33c05bd2cbc1fbcf4bc303d693c583b3abceabcd43c083d463ab33cddbc7c3f7e3f843f813fc138df399bb90abab1ba4d3b3f3dfabc8d3ccd3c193b883c17bd1fbdb13c4dbbccbc9a3c81bcda3ba23986bccababebcd0bb84bbf1bc8b3ce03cdebc27bc263d80bc2fbc5a3b813947bca5bbb63a56bc77bc613c0c3deebc7bba4cbc04bdd0bcd8bce33b943c243d59bcb83a253df4bb713c80bbed3a0b3d8c3c06bc76bcb3bce4bc8dbc953b39bc7cbcb7bcd33ce4ba32bcb9bc2dbc833c95bc46bb2fbccbbc90bc4d3cb3bcd3bcb43bb4bc063c9d3ca6bc62bca63ca93c263c84ba103d723c013cb4bbc6bcb53b39bd943b21bc243de03a14bd5b3bc8391dbd7a3a923c4b3b4c3cd53c1abd69bc123cfcbca8bcce3c713d2f3d32bc3ebc803c14bc70bbb0bc153be5bc1ebd0e3b833f813fe4b9433ac5bc283c1c3cf33cbfbc04bdfd3c57bd363c65bbdfbc5abca3bb9c3c0a3d943ddb3c823c9dbc993cd03a923c843cb23b003cb9bc96bc8d3c37bb3a39ab3c3c3d7b3f43ba493a973cad3c94bcb2bbee3bb43b843c373ca1bc1a3da43c8fbc543c0bbc5d3cd53b803ab1bcb9bcc6bb16bd2b3d47bb68bc94bc3ebd12bdf6bb7abce13c033bafbc8bbca03c3bbc9e3c763cf5bb7f3bfe3c2ebdbdbafd3bf6bbe53c98bc81bc0e3d9ebc553c0abd983a2cbc22bd64bc97bcabbc9c3bf4bb81bcdf3c443b293da7ba273bdf3b863c003cda3a06bbc9bc3e3b423c68b982bb7d3ca5bcdb39683c043d4d3c5c3c083c9f3ab93b3c3c8cbcd93cfcbb76bb493ca8bb2d3dba3c9fbcd43ba2bcacbb5dbb643c333ce9bb63b96fbc4f3c8c3cd0bcccbce93c373d4bbc373c873bc83c05bc963bd13bf0bbdabc7bbb02bd3a3d38bcf33ccc3b37bc8c3c813f803f65b92a3a0d3c243b1abd34bce3bc953a9abcd53b67bca1bc243d2fbb5e3c42bb18bc233cfe3ba13cec3cd13c2c3dc63b5dbb2f3d12b9183b8b3bf93ced3cdf3c533cdebb6b3cb1bc70bc013c29bc283c8ebb843c6abc47bac7bb0d3b6cbcbc3bc9bbce3c4fbc143b3ebac5bc003cd83c98bc98bce13aa03a89bb843cfe3b85bc473bb53c0c3d4f3cd23a33bdc7382d3a223d3fbc213ab7ba73bb5a3c2e3d5b3c5dbb9e3ca0bc2e3984bb673ca2bc28bcbfbc083c9b3c16bcad3c353cd9bcc1ba77bc013dbcba42bcd03be3bb2e3de9bcd63ca6bcc43c0f3d833bf4bb243b14bd97bc20bdd93cd5394b3b2ebc963b93bac53c09bcc13c67bceb3c7c3cebbcaabbc73c943c823f7c3f803f7d3f9eb9b539d9394fba55bbbd3ccabca73b413c94ba0abc073d16bc9fbc1d3d443cd7bca9bc1e3b20bc963bd93b833c923c4cba8dbc2ebc2e3cec3ca6bc583c88bb6abc023dd9bc69bb3f3bed3b6eb9d43c0a3c7d3d4c3cf53c15ba5a3cc8bc063df8bb913c89ba4a3cdd3bc4bcc6bb883c78bb0cbc9dbce83c943ba9bce9b78f3ce1bc593a4a3d453cda3b5dbccc3c263bd6bc85bc75bc60bcf23ceebb2f3c613ceb3cd53c62ba983ca5bc173c16bc07bc38bdd63ccf3baab9023d3a3b68bc2dbd3ebc363c693c313cfd3a023d0f3acebc3fbc693c3abcbbbb1b3c9a3c393d14ba0fbd28bd693c44bc8eba693c72bbd83cfc3ba9bb193d853c023d6b3c7cbbfabb09bd253dc8bc1dbd863c593c60bc8fbc9cbc5c3c75bcf33b65bc953cb33c603cbfbb293c9b3c053ccabc443c5bbb6f3ce9bbe9bc0ebd38bc713c563c34bc013d32bbc5bb98bc543c6fbb74bcea3b0e3db23c45bd8c3c60bc223cb53c73bc5a3c573c3ebb083d88bc28bb853c093c43ba8fbc4ebc263d75bbf6bbc63ca43ca9bb8aba1f3d983c4cbb833b95bcd7bc4b3c1e3c7b3be7bcc9bc073d00bd66bc183b1abbe1bcee3b47bca23c20bdcebc343c0ebc24bb053cc63c58390cbdcd3bc23c693d7fbca0bbcdbcc7bca03c2fba6cbce43b673d5d3c60bc243d9cbb42bce33bc13cf2bb283c29bc413d943cae3b78bc113d7cbb8a3c8c3b81bcc0bc613c32ba4abce0bc5a3a7cbc44bca0bc0e3c7fbc54bcc43bfb3be4bad2bcc63cca3cf13c2cbde93cd23b703c1bbbd0bc0b3d643ab4bbfabce03c1ebddf3cca3cd33cae3ce63b3d3d99bb40bb343c063c48bb93bbb93a9f3b48bd21bb833cf13b443ca0bb06bbc23ca9bbf8bc393c0a3b7e3cf6bbef3c323ba3bb90bce9bad03bfcbcc8bcd43bf23c713c083b89bba83cc2bb763c8ebc89bcd9bcd4bca2b9a0bc8a3cba3b91bc15bce7bc33bd46bb46bcfb3bebba553cb63cddbb1e3b623cf5bca9bc403de63c65bb013b81bce4bcc13b04bd863c893c7e3c3c3bd13cdc3adfbc9bbcd73cae3a78bcaabaa93cb9bb04bcb0bc4a3dbd3c3eba11bcd43c44bc5e3c8ebb92bc1939a7bca33b933c2fbd063cb73c88bcef3c1d3bed3b823ba53cc1ba21bcd63a023dc6bbf93c34bcf5bb10bc20ba0dbd093ce9bccfbc8fbaffbbe6bbab3c39bc20bcf7bcacbb5b3d773c353cbfbcbb3be33c8fbbbe3bbb39f83c813cb1ba883cc0bb7cbc5ebcabbc26bcadbc803c65bcba3c0a3b083b8d3b4136d6bcfabaf6bcb13bf1bc8bbab23cba3c92b9103c72bac13cf0bb01bd7c3c6e3cd739e5bc21bc723cb6bb1bbd703c1d3d02bcf9bb623af8bbd2bc74bca93cd5bcc9bc19bd43bbe53ade3a7e3c15bc8ebabcbb40bdf73c39bc35bd11bbc43c56bcefbba93c30bdb93c9cbca63c4e3c253bcabc173c7c3b31bac43c3abd85bc263cba3b41bcac3cd4bb0f3c763a2ebc813f843f843f7a3f823f803f7c3f803f45ba34ba5f3a4eba0dba473aef392fbaa2bc0b3ce9bb0d3c41bcd4bb43bc64bcb63c1b3cab3ce23c283b0cbc67bcc63b40bc32bc24bdcf3bf5bb30bc69bcc3bb0cbc073d89bc783b62bc223cfe3ce13cb43be03cc73c243b913b6f3c3abc563c893c1dbc9b3b70bd94bc1bbb043c7b3ba53c10bdd7bba33c06bdd4bc913cf23c30bba9bcb93c62bc64bd0abcf83c8cbb773d3f3c713c653cb93ccebb58bdc83ba53c29bac6bac13c67bc1f3b79bbbd3b7fbc5a3ca33aa43c103cf6bc32bc2c3badbc523acc3bed3c0f3c5bbbe43be53c0bbc543cd83c9bbb2c3b11bcb33cda3ca63ce33cb93a4dbcc4bb1bbd85bcf43ca8bc31bcd83c26bdda3cff3ba63adbbb88bcb2bc8abc8c3ce2bc0d3cacbc8cbb
\.
COPY leat.weights_1_1 (part, bytes) FROM stdin;
0	\\x263d83bbe7bcfc3a87b912bd63bc8d3c813c0fbdb13b623c66bcd3bc54bb0a3d543c9fbbbd3cc2bbb23c82bc08bd8b3c07bb9d3c1c3b7a3cc43c783cff3c1a3db6bcfcbcedba63bb60b915bd5a3c8f3ca73b11bd9abb9c3c7b3c29bbec3b08bb883c0abcc83ce1bbee3be03cb73c2dbb143dc1ba933be13cbf3ceabbd5b796bd03bd923ca63caf3c8f3b253d5dbd983cce3c25bc0cbd0fbd08bbb43c913b933c4e3ca0bc123cc4bbd7391e3c59bd553b4a3c0f3d393d3dbc633c213d3a3b07bd683c82bc98bb913cb13b14bd2fbd5abb1cbc58bcce3b423c6dbc8c3c8b3cfcbc483ddabc3b3cc039bb3b0fbd993c85bb60bc2d3c69bde9b9e03c99bb2c3b75bc87bca33c693b863c37bc74bce0bbca3ca5bc13bd063ca93cfe3cb93c86bcd9bc41bcd63be4bb493c21bc83bc473b933bfebb9a3c52bc1abd463bc5bb5cbc183cbd3afd3cd9ba5dbba8bc20bdc8bb973bc53c5abca23c3ebc29bdb03b78bb4abc2f3cfc3ca83c5dbc143cd1bbd2bc40bcbabc273c24bb16bc77b93cbbadbb3d3c50bcfd3c07bc573bd3bc013d2abbb43be73cde3c4c3babbc17bcf6bcd1bb033c9cbbb0ba17bca53cae3cd33c8abbce3c523c95bc863961bbd5bcce3cb73c53bc503bac3b073deb3cb5bbd53cbd3a0b3c0f3dd53c533c0e3c99bcdbbbcabb093dd3bb513dcb3cc73b853c2d3c88bc0abc5e3cd33c9fbc35bca73cb3bc66bbb5bcbd3bb33c37bd993c69bca0bc893bc23c40bbcb3add3c9bbb2a3dfabb803c2d3dbf3c803b413c873b09bda3bb953c063cbb3c103c37bda83c3e3cfdbb18bcbebc883a3c3d063d3ebc9a3ca03c833c2bbd303d9db8dfba6f3c003d783cea3cfcbcbebcf1bcf9bcc73c673b303ca43c9f3cf03c383bcd3cafbcc83c073de53b9d3c60bc88bc99bb143d2ebca93c793b02bbb9bc203d923c4d3c15bc8bbc033c52bc0cbd0dbcd23c6ebce6ba6abb0ebce2bc2cbdcd3b163c9fbcc9bcaebbc7bc4ebcb0bc6e3c0bbc4a3b32ba4fbc6cbcf83c04bda0bc08bba5bc18bc9bbc6c3d90b9e7bba5bca6bc6b3cfa3bf1bbd7bc7d3b463bedbc45bbd43b09bcea3cacbc6d3c9dbb5c3c82bc3a3b41ba5abc233b0e3debbbe0bc27bb803cadbad63cc33cdb3bd13c51bc7cb9183b0b3ddfba763a0ebcba3b903cdcbc163cb93c113df7bceb3b293c8fbc1dbdadbc723cfd3ba13a7a3c013d18bdc8bac93bf53ac53be53b823c32bdc73cd23cd3bb7a3cbdbc113bb6bcc43995bc2d3d26bcdebc03bc663c053c9cbcc73c683bd13a8abc4cbcd6bc5abd4bbb423c37bc953c003d393c91bc01bcd4ba573dea3c17bde4bb37bc87bc05bcbcbcb53b573c423b0b3d523c0c3ccbbcdabaac3cd1bce53c7a3ca5bc673b553cf43c3f3b073b30bc78bcab3b34bc143d2e3c4e3c2ebd7a3c6dbcffbc0abc463c923b0bbba6bcd43c24ba5c3c253bc8bb803f803f803f853f853f803f803f7f3f10b9193a5c39483917ba1dba22b93a38d83c98bb1cbc8abbc43c0e37d43c633c893cb33c0cbc50bcb93b50bb1fbca7bc97bcb0bb69ba943b49bb49bc9a3c92bc9b3a5cbb123b6e3c0b3d3f3c03bc273db7bc67bc213cdd3a393dfabba23bc7bc78bc163c8ebc683b933c5cbdf53c143db73bd43cdc3cb8bbbf3c143c07bd293b2bbdc9ba84bc4c3caf3c0c3cb1ba79bcc2bcfa3bad3c95bc9cbcf33c053bc53c59bc64b95b3c17bc03bd81bcadbac73cc93ba83ca23be93aceba39bdd13c7b3b39bc4d3cc7bcf33c0fbd6f3c3d3c393be2bcd4bc903cd63b6dbc40ba3abc1e3c0bbd8e3c893c2bbc8bbb8d3cc13c06bd30bcd2bc86bc223c3bbc77bcd0bb21bcdbbbf7bc243cc1bbc33cd83be4bca13c02bc7e3c6b3c973bbcbb6ebcdebcb93c55bc11bba0bc1fba95bce0bcd93ba43c0d3de8bced3c963c52bc5bbcc13baeba1fbc01bdf9bcafbb51bc50bc7bbb87bcc43cdfbb693ca73be2bc9f3b4a3d8bbb0c3ded3ca7bc123c98bc9dbbc5bc763c86bc3dbca43c4b3ca03cb3bc53bc71bc15bc863b84bb7a3a76bc3c3dfc3cdfbc52bc2d3bba3ba0bc9bbac4bc403cf63a23bc43bc25bd33bca2baa63cd23ca2bc26bca63c8c3ce13ab4bc07bcf93bedbc2b38463cd33b78bcfebb9ebc5bbcb8bcc73c40bc58bc533b52bafa3bbf3aa43ae93c5ebc573cdf3b353c983cb8bbe9bc5cbc9cbbde3c16bcf1bc30bba7bc58bc67bb863b6bbb83bb61bc47bc2f3c23bc26bbc13cf93b8a3c8dbc3bbc19bc2c3c1a3d45bbb73cb83ccb3c273c7f3cc13ccebb993c943b03bdad3ca93c7bbb6bbb653c25bcf2bb1abdafbbbcbcc1ba39bd4ebc0cbd98bb24bc8d3c823c613b5e3d603bc3ba04bb323c33bca03cb5bcfc3cacbafebb533cc2bb61bcd93c143c853cf2bb67bc183ce9ba033c0cbb7ebb99bc9cbce03cbbbc0f3c0bbd32bc583caf3c193cc3bb89bc783d73bc03bd37bd56bd843bae3c1c3d07bc4bbcdfbc08bc093cdcbc603c023de1bc88bc41bba3bc91bbafbcd03b95bcb03c213b8e3c68bc883be0baa9bc603b523ce33c2cbc6b3ccabc2a3de03c49bc1c3dd93bba3a24bcd2bbe8bca8bab1bc683c2abc79bc30bd1dbb7cbc4fbcddba40bc393c1b3c273b783ca9bc9b3c323bb8bb27bd9fbbbcba953c55bc7f3c423d543c18bc6ebc88bbd83cf23cd1bc27bcd63cefbb623c223c863bce3c61bc30bc34bc913cb7bcdf3cf03c3bb84d3c54bb31bc243ca23ca9bc87bd6d3aabbc2dbd5939dbbc54bb5fbc19bca93bba3c433c8abb193b3bbc33bcc33ba63aa93c2bbcf2bc133b7e3d453c5c3cf33c87bc79bc88bc8c3c753ca43b303d2dbd3f3c6d3c01bc9fbcc33c4e3b02bb90bce7bb793b00bb3a3c5bbd57bd34bdea3ccf3beabb253d143d0cbb943cbcbaa6ba7d3b0cbd10bd733c963cd03a2bbc65bce53c05bd2fbc21bcf3bc303d653c543b37bceabcd63c073d583ab43cdcbc7c3f7e3f843f813f25b8c939bab9d9b9b8ba523b403df9bc8c3ccd3c0a3b863c17bd1fbdb03c52bbcbbc9b3c81bcdd3b0d3a86bcb0bac0bcd2bb87bbf1bc8a3ce03cdfbc28bc263d7ebc2cbc633bc23945bca8bbad3a58bc78bc623c0c3deebc56ba4dbc04bdd0bcd9bcdb3b953c233d56bcaf3a263df6bb6e3c77bb043b0b3d8e3c07bc74bcb5bce6bc8fbc9b3b3cbc79bcb6bcd33cd9ba2fbcbabc29bc813c96bc44bb31bccdbc8fbc503cb1bcd5bcb13bb3bc093c9d3ca7bc64bca83ca83c243c9eba0f3d753c023cb4bbc4bcae3b39bd8e3b22bc243de33a13bd5f3b173a1dbd7e3a933c3c3b503cd43c1abd6dbc163cfebca7bccd3c723d2e3d2fbc3fbc813c16bc60bbb2bc233be6bc1ebd013b833f813faeb91c3ac5bc2a3c1f3cf23cc1bc04bdfe3c57bd3a3c6ebbe0bc5dbca1bb9e3c0b3d953ddc3c813c9ebc9a3ce63a913c843cb73b033cbabc97bc8d3c2abbd739aa3c3c3d7b3f0cba5c3a953cab3c92bcbabbf33bb63b843c3b3ca2bc1b3da23c90bc533c0fbc5a3cdd3b9d3ab1bcbabcc7bb17bd2a3d40bb66bc93bc3dbd11bdeebb7cbcdf3cf53aaebc89bc9f3c3ebca03c733cf4bb6f3b003d2dbda3ba023cf0bbe43c96bc83bc0e3d9fbc523c0abdb23a2ebc21bd66bc95bcabbc9a3bf2bb81bcdf3c493b293d8cba343be63b883c043cf73a0fbbc8bc2f3b3e3cf6b879bb803ca4bc063a6c3c033d503c5a3c073cb63ab13b3d3c8dbcda3cfdbb80bb4b3caebb2c3db93ca0bcda3ba4bcb1bb50bb643c2f3cf0bb59376fbc4f3c8c3ccfbccdbceb3c363d4ebc343c853bc73c08bc913bcf3bf7bbdbbc7dbb03bd393d3cbcf23cc53b3abc8b3c813f803f7ab9f039103c173b19bd37bce4bca53a9bbcd33b64bca3bc243d37bb5c3c46bb17bc253c003ca23ceb3cd13c2c3dbf3b65bb2e3d95b80d3b853bf83ced3cde3c513ce5bb6d3cb3bc6dbcff3b27bc293c88bb823c68bc5bbac0bb1b3b70bcbb3bc1bbce3c50bc1d3b09bac3bc033cd83c96bc98bcf93aad3a83bb853cf93b85bc543bb53c0b3d523cb93a32bda539043a213d3fbce339b7ba7fbb5d3c2e3d593c62bb9e3ca1bc9a3889bb693ca3bc28bcc1bc0a3c9c3c1abcac3c373cd8bcafba79bc023dd5ba3fbcc93be9bb2f3debbcd53ca7bcc33c0e3d7c3bf8bb183b15bd99bc20bdd73c4a393f3b30bc8f3b81bac43c0bbcc33c6abce93c793cedbcaebbc93c953c813f7c3f803f7d3f99b95839b73913ba60bbbd3cccbca03b433caeba0abc063d13bc9dbc1e3d473cd6bcaabc123b1ebc8f3bd63b843c913c26ba8ebc2bbc2d3ceb3ca7bc573c85bb6abc023ddbbc64bb4a3be83bb4b9d33c0c3c7c3d4d3cf53c38ba5e3cc6bc063df4bb913c74ba4c3ce03bc5bccebb883c6bbb0abc9dbce73c9a3ba9bc0339903ce0bc823a4a3d423ce13b59bccc3c183bd8bc84bc77bc64bcf03ce8bb323c5f3ced3cd73c2fba993ca4bc153c19bc05bc38bdd63ccb3b04ba023d3f3b65bc2cbd3cbc373c673c333ce23a023d393ad0bc3dbc6c3c38bcc3bb1d3c993c393dafb90ebd28bd673c44bc72ba663c65bbd73cfc3ba7bb193d843c013d683c84bb00bc09bd253dc9bc1dbd873c593c62bc8ebc9abc5f3c73bcf83b62bc963cb53c613cb7bb2d3c9a3c033cc8bc473c4dbb703ce3bbe7bc0dbd3bbc743c533c33bc013d3abbccbb99bc513c62bb73bcf13b0f3db13c44bd8e3c5ebc243cb63c76bc5a3c5a3c41bb073d8abc1abb863c063c19ba90bc4cbc273d67bbf5bbc83ca23cacbb6bba203d963c40bb883b96bcd5bc4e3c1b3c793be6bcc8bc073d00bd67bc233b25bbe1bcef3b49bca43c20bdd0bc373c12bc1cbb023cc73c4fb70dbdc73bc33c683d7ebc9fbbcdbcc8bca03c03ba6ebcec3b683d603c5ebc233d95bb3fbcde3bc33cf5bb253c29bc403d933cac3b7bbc123d78bb8b3c913b82bcc1bc643c02ba47bce0bc2c3a7ebc48bc9fbc0a3c81bc52bcc83b003c01bbd4bcc83cc93cef3c2cbdea3cd63b713c19bbd1bc0b3d653aaebbf8bce23c1dbddf3ccc3cd53cad3cdf3b3e3d93bb37bb363c043c40bb99bbd43a993b49bd2dbb843cee3b463ca8bb12bbc03cafbbf9bc373c113b7f3cf4bbee3c273baabb92bccfbad53bfcbcc8bccf3bf13c6e3cf33a87bba93cbdbb793c90bc89bcd7bcd3bc18b99ebc893cbd3b90bc14bce6bc33bd54bb47bcf93bd7ba543cb43cd7bb293b5f3cf4bcaabc413de43c5abbe83a7fbce4bcc63b03bd873c8a3c7e3c4a3bd03ce83adebc99bcd63ca83a77bcb0baab3cb7bb05bcaebc4b3dbf3c07ba0ebcd23c41bc5c3c8bbb90bcc839a7bca73b913c30bd033cb63c8abcee3c193bef3b7d3ba63cb4ba1ebcdc3a013dc7bbf83c31bcf9bb0ebc42ba0ebd073cebbccebca3ba02bcedbbab3c3cbc1dbcf8bcb3bb5b3d763c343cbdbcb93be33c89bbc53bc139f93c833cccba8a3cb9bb7bbc5cbcaabc23bcafbc823c62bcb93c153b153b8d3b24b9d6bce8baf4bcb83bf0bc5dbab43cb93c18b9133c94babf3cf1bb02bd783c6d3c153ae4bc25bc713cbdbb1cbd723c1c3d06bc00bc463af3bbd4bc73bca83cd7bcc8bc19bd51bbf73af83a803c18bc80bac0bb40bdf73c3cbc36bd06bbc63c58bcf6bba83c2fbdb83c9dbca73c523c1f3bc8bc1a3c843b2cbac43c3abd83bc233cb63b3ebcad3cd9bb0c3c923a2bbc813f843f843f7a3f823f803f7c3f803f13ba0aba213a18bac2b9173aae3908baa4bc0f3ce2bb113c45bcd3bb40bc67bcb43c1f3cab3ce43c1b3b0ebc68bcbf3b3dbc35bc24bdd33bf6bb34bc6bbcc3bb0abc073d87bc823b64bc233c003de33cad3bdf3cc63c303b8a3b703c38bc593c873c1abca23b6fbd96bc12bb013c843ba43c0fbddabba33c06bdd3bc933cf43c3ebba7bcb93c5fbc65bd0dbcfa3c87bb763d3c3c703c673cba3cccbb58bdc43ba53c0ebabfbac33c64bc243b70bbb93b81bc5d3cc13aa33c0d3cf4bc33bc1d3bacbc823ad23bec3c0b3c5cbbeb3be33c0fbc513cd83c9fbb1f3b12bcb33cdb3ca43ce13cd03a4abcbebb1abd83bcf63ca9bc30bcd63c25bddb3c033cbb3adebb87bcb4bc8abc8d3ce0bc0f3cabbc92bb
\.
SELECT pg_catalog.setval('leat.event_id_seq', 1, false);
SELECT pg_catalog.setval('leat.lease_lease_seq', 13, true);
SELECT pg_catalog.setval('leat.run_id_seq', 1, true);
ALTER TABLE ONLY leat.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (name);
ALTER TABLE ONLY leat.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (id);
ALTER TABLE ONLY leat.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (lease);
ALTER TABLE ONLY leat.list_1
    ADD CONSTRAINT list_1_pkey PRIMARY KEY (part);
ALTER TABLE ONLY leat.machine
    ADD CONSTRAINT machine_pkey PRIMARY KEY (account, id);
ALTER TABLE ONLY leat.part_1_0
    ADD CONSTRAINT part_1_0_pkey PRIMARY KEY (lease, part);
ALTER TABLE ONLY leat.part_1_1
    ADD CONSTRAINT part_1_1_pkey PRIMARY KEY (lease, part);
ALTER TABLE ONLY leat.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);
ALTER TABLE ONLY leat.state_1_0
    ADD CONSTRAINT state_1_0_pkey PRIMARY KEY (part);
ALTER TABLE ONLY leat.state_1_1
    ADD CONSTRAINT state_1_1_pkey PRIMARY KEY (part);
ALTER TABLE ONLY leat.step
    ADD CONSTRAINT step_pkey PRIMARY KEY (run, step);
ALTER TABLE ONLY leat.unit
    ADD CONSTRAINT unit_pkey PRIMARY KEY (run, step, unit);
ALTER TABLE ONLY leat.weights_1_0
    ADD CONSTRAINT weights_1_0_pkey PRIMARY KEY (part);
ALTER TABLE ONLY leat.weights_1_1
    ADD CONSTRAINT weights_1_1_pkey PRIMARY KEY (part);
CREATE INDEX lease_machine ON leat.lease USING btree (account, machine) WHERE (state = 'live'::text);
CREATE INDEX lease_unit ON leat.lease USING btree (run, step, unit);
CREATE UNIQUE INDEX run_name ON leat.run USING btree (name) WHERE (state <> 'finished'::text);
ALTER TABLE ONLY leat.lease
    ADD CONSTRAINT lease_run_fkey FOREIGN KEY (run) REFERENCES leat.run(id) ON DELETE CASCADE;
ALTER TABLE ONLY leat.machine
    ADD CONSTRAINT machine_account_fkey FOREIGN KEY (account) REFERENCES leat.account(name) ON DELETE CASCADE;
ALTER TABLE ONLY leat.step
    ADD CONSTRAINT step_run_fkey FOREIGN KEY (run) REFERENCES leat.run(id) ON DELETE CASCADE;
ALTER TABLE ONLY leat.unit
    ADD CONSTRAINT unit_run_fkey FOREIGN KEY (run) REFERENCES leat.run(id) ON DELETE CASCADE;
GRANT USAGE ON SCHEMA leat TO PUBLIC;
REVOKE ALL ON FUNCTION leat.add_units(r leat.run, p_step bigint, p_units integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.arrived(p_run bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.choose(r leat.run, p_machine text, OUT unit integer, OUT kind text) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.clear_slot(p_run bigint, p_fence bigint, p_epoch bigint, p_kind text, p_slot integer, p_wait_ms integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.commit_step(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_weights_slot integer, p_weights text, p_state_slot integer, p_state text, p_samples bigint, p_values double precision[], p_units integer, p_next_units integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.confirm(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_unit integer, p_lease bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.create_parts(p_run bigint, p_slot integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.create_run(p_name text, p_identity text, p_settings text, p_model text, p_model_hash text, p_data text, p_data_note text, p_samples bigint, p_kernel_class text, p_version text, p_units integer, p_unit_size bigint, p_steps bigint, p_payload_bytes bigint, p_weights_bytes bigint, p_state_bytes bigint, p_part_bytes integer, p_memory_bytes bigint, p_lease_ms bigint, p_renew_ms bigint, p_silent_ms bigint, p_hold_ms bigint, p_sample_bytes bigint, p_value_names text) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.data_count(p_run bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.drop_run(p_run bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.end_lease(p_lease bigint, p_state text, p_reason text) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.end_leases(p_run bigint, p_machine text, p_kept bigint, p_state text, p_reason text) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.fenced(p_run bigint, p_fence bigint, p_epoch bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.give_up(p_run bigint, p_fence bigint, p_epoch bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.has_parts(p_run bigint, p_slot integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.hold(p_run bigint, p_name text, p_fence bigint, p_epoch bigint, OUT fence bigint, OUT epoch bigint, OUT holder text, OUT left_ms bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.hopeless(p_run bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.is_held(l leat.lease, lease_ms bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.keep_list(p_run bigint, p_fence bigint, p_epoch bigint, p_bytes bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.keep_state(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_slot integer, p_state text) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.lock_lease(p_lease bigint, p_epoch bigint, OUT l leat.lease, OUT why text) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.me() FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.median_ms(p_run bigint, p_step bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.note(p_run bigint, p_kind text, p_machine text, p_words text) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.open_step(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_slot integer, p_weights text, p_units integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.own_result(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_unit integer, p_hash text) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.put_data(p_run bigint, p_fence bigint, p_epoch bigint, p_first bigint, p_bytes bytea) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.put_list(p_run bigint, p_fence bigint, p_epoch bigint, p_part integer, p_bytes bytea) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.put_slot(p_run bigint, p_fence bigint, p_epoch bigint, p_kind text, p_slot integer, p_part integer, p_bytes bytea) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.random64() FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.read_part(p_run bigint, p_step bigint, p_lease bigint, p_part integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.recover(p_run bigint, p_fence bigint, p_epoch bigint, p_kept integer[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.refuse(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_unit integer, p_lease bigint, p_mismatch boolean, p_reason text) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.renew_hold(p_run bigint, p_fence bigint, p_epoch bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.resume_run(p_run bigint, p_fence bigint, p_epoch bigint, p_steps bigint, p_lease_ms bigint, p_renew_ms bigint, p_silent_ms bigint, p_hold_ms bigint, p_data_note text, p_units integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.serve_data(p_run bigint, p_fence bigint, p_epoch bigint, p_sample_bytes bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.set_state(p_run bigint, p_fence bigint, p_epoch bigint, p_state text, p_reason text) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.slot(r leat.run, p_kind text, p_slot integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION leat.tidy(words text) FROM PUBLIC;
GRANT SELECT ON TABLE leat.events TO PUBLIC;
GRANT SELECT ON TABLE leat.gradients TO PUBLIC;
GRANT SELECT ON TABLE leat.loss_history TO PUBLIC;
GRANT SELECT ON TABLE leat.step_values TO PUBLIC;
GRANT SELECT ON TABLE leat.training_state TO PUBLIC;
GRANT SELECT ON TABLE leat.version TO PUBLIC;
GRANT SELECT ON TABLE leat.work_units TO PUBLIC;
GRANT SELECT ON TABLE leat.workers TO PUBLIC;

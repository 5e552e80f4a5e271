-- The schema `leat`: a model trained by lent machines through this database. docs/crowd.md describes
-- it. Version 7; installed by its owner in one transaction.
--
-- Workers call functions, and read views and the version; they have no other right. The owner's
-- coordinator reads the tables, and writes through functions too, each of which begins by locking the
-- run and comparing the fence and epoch, so that a coordinator that has lost the run writes nothing.
--
-- Locks are taken in the order run, unit, lease. Times are those of leat.clock(), read after the last
-- lock of a statement. Reasons of refusals are returned, not raised: an error would undo the rest.

create schema leat;
grant usage on schema leat to public;

create table leat.version (version integer not null);
insert into leat.version values (7);

-- The only clock. The owner may replace it.
create function leat.clock() returns timestamptz
language sql volatile as $$ select pg_catalog.clock_timestamp() $$;

-- Whether something is held until this instant, for at most this long. An instant that is further
-- away than that was written before the clock went back: it is past.
create function leat.holds(until timestamptz, length_ms bigint) returns boolean
language plpgsql volatile as $$
declare
  now_ timestamptz := leat.clock();
begin
  return until > now_ and until <= now_ + length_ms * interval '1 millisecond';
end $$;

-- Names from volunteers: printable, at most 64 characters.
create function leat.tidy(words text) returns text
language sql immutable as $$
  select left(regexp_replace(coalesce(words, ''), '[^[:alnum:][:punct:] ]', '?', 'g'), 64)
$$;

create function leat.random64() returns bigint
language sql volatile as $$
  select ('x' || left(md5(gen_random_uuid()::text), 16))::bit(64)::bigint
$$;

-- ---- Tables ------------------------------------------------------------------------------------

create table leat.run (
  id bigint generated always as identity primary key,
  name text not null check (name ~ '^[A-Za-z0-9._-]{1,64}$'),
  created_at timestamptz not null default leat.clock(),
  -- what decides the weights
  identity text not null check (identity ~ '^[0-9a-f]{64}$'),
  settings text not null,
  model text not null,
  model_hash text not null,
  -- of what a step computes besides the weights, in the order of leat.step.values
  value_names text[] not null check
    (value_names::text ~ '^\{([a-z0-9_]{1,48}(,[a-z0-9_]{1,48}){0,15})?\}$'),
  data text not null,
  data_note text not null default '',
  samples bigint not null,
  -- 0: workers have the data set; else leat.data_ID has or receives it
  sample_bytes bigint not null default 0 check (sample_bytes between 0 and 64 << 20),
  -- of list_ID, which says what the samples are, for workers whose data set is another one; 0: it
  -- is not here
  list_bytes bigint not null default 0 check (list_bytes between 0 and 64 << 20),
  kernel_class text not null,
  leat_version text not null,
  -- of a step, at most; samples of each, and then every step has that many units; 0: they differ
  units integer not null check (units between 1 and 100000),
  unit_size bigint not null check (unit_size >= 0),
  steps bigint not null check (steps > 0),
  -- sizes
  payload_bytes bigint not null check (payload_bytes between 1 and 1 << 29),
  weights_bytes bigint not null check (weights_bytes > 0),
  state_bytes bigint not null check (state_bytes > 0),
  part_bytes integer not null check (part_bytes between 1024 and 8 << 20),
  memory_bytes bigint not null,
  -- times
  lease_ms bigint not null default 300000 check (lease_ms > 0),
  renew_ms bigint not null default 10000 check (renew_ms > 0),
  silent_ms bigint not null default 30000 check (silent_ms > 0),
  hold_ms bigint not null default 15000 check (hold_ms > 0),
  -- what changes
  state text not null default 'open' check (state in ('open', 'paused', 'finished')),
  reason text not null default '',
  fence bigint not null default 0 check (fence >= 0),
  epoch bigint not null default 0,
  coordinator text not null default '',
  coordinator_until timestamptz not null default '-infinity',
  -- the open one; -1: the weights of step 0 are not here yet
  step bigint not null default -1 check (step >= -1),
  weights_slot smallint not null default 0 check (weights_slot in (0, 1)),
  weights_hash text not null default '',
  state_slot smallint not null default 0 check (state_slot in (0, 1)),
  state_step bigint not null default -1 check (state_step >= -1),
  state_hash text not null default ''
);
create unique index run_name on leat.run (name) where state <> 'finished';

create table leat.step (
  run bigint not null references leat.run on delete cascade,
  step bigint not null,
  committed_at timestamptz not null,
  state_hash text not null,
  samples bigint not null,              -- used so far
  values double precision[] not null,
  -- medians of the results that counted: what is usual
  gradient_norm double precision not null,
  statistics_norm double precision not null,
  workers integer not null,
  primary key (run, step)
);

-- What is known of logins whose results were judged, or that blocked a run. Workers never write here:
-- a transaction that one of them leaves open has none of these rows locked.
create table leat.account (
  name name primary key,
  created_at timestamptz not null default leat.clock(),
  accepted bigint not null default 0,
  confirmed bigint not null default 0,
  refused bigint not null default 0,
  mismatched bigint not null default 0,
  refusals integer not null default 0,  -- of its results, since then
  refusals_since timestamptz not null default '-infinity',
  blocks integer not null default 0,    -- of runs, since then
  blocks_since timestamptz not null default '-infinity',
  suspended_until timestamptz not null default '-infinity',
  suspended_for text not null default ''
);

create table leat.machine (
  account name not null,
  id text not null check (id ~ '^[0-9a-f]{32}$'),
  secret text not null default '',      -- a hash of what its key has; '': nobody's
  session text not null default '',     -- in which it works: another one is not this machine
  name text not null,
  hardware text not null,
  created_at timestamptz not null default leat.clock(),
  seen_at timestamptz not null,
  run bigint,                           -- of which it has asked for units, the last; null: none
  accepted bigint not null default 0,
  refused bigint not null default 0,
  bytes bigint not null default 0,
  granted bigint not null default 0,    -- parts of the results of its leases, so far
  news text not null default '',        -- what became of its results, not yet told
  primary key (account, id)
) with (fillfactor = 50);

-- What counts the parts that a login sends: the sequence leat.sent_ID.
create table leat.meter (
  account name primary key,
  id bigint generated always as identity unique,
  born xid8 not null default pg_current_xact_id(),
  granted bigint not null default 0     -- to machines that were removed
);

-- Of the open step and the one before.
create table leat.unit (
  run bigint not null references leat.run on delete cascade,
  step bigint not null,
  unit integer not null,
  state text not null default 'ready'
    check (state in ('ready', 'out', 'done', 'confirmed', 'failed')),
  lease bigint,                         -- whose result it is
  hash text,
  primary key (run, step, unit)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.1);

create table leat.lease (
  lease bigint generated always as identity primary key,
  run bigint not null references leat.run on delete cascade,
  step bigint not null,
  unit integer not null,
  account name not null,
  machine text not null,
  epoch bigint not null,                -- random: a database that is put back counts leases again
  kind text not null check (kind in ('work', 'copy')),
  state text not null default 'live' check (state in
    ('live', 'used', 'superseded', 'expired', 'released', 'failed', 'refused')),
  reason text not null default '',
  granted_at timestamptz not null,
  renewed_at timestamptz not null,
  until timestamptz not null,
  ended_at timestamptz
) with (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.1);
create index lease_unit on leat.lease (run, step, unit);
create index lease_machine on leat.lease (account, machine) where state = 'live';

-- The last 500 of each account and kind.
create table leat.event (
  id bigint generated always as identity primary key,
  run bigint,
  at timestamptz not null default leat.clock(),
  kind text not null,
  account name,
  machine text,
  words text not null
);
create index event_account on leat.event (account, kind, id);

-- ---- What workers call -------------------------------------------------------------------------

-- Those for workers run with the owner's rights; those that they call in turn are the owner's alone.

-- Begins to work: the run, by name or, if there is one open run, by ''. Leases of an earlier process
-- of this machine end, because only one process has its key, which p_secret proves. A login that is
-- suspended learns of the run, and locks nothing.
create function leat.register(p_run text, p_machine text, p_secret text, p_name text,
                              p_hardware text)
returns table (run bigint, name text, model text, model_hash text, data text, data_note text,
               samples bigint, kernel_class text, identity text, settings text, leat_version text,
               payload_bytes bigint, weights_bytes bigint, part_bytes integer,
               memory_bytes bigint, lease_ms bigint, renew_ms bigint, state text,
               sample_bytes bigint, list_bytes bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  r leat.run;
  open_ text;
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
  if leat.suspended(r.id) is null then
    perform leat.register_machine(r.id, p_machine, p_secret, p_name, p_hardware);
  end if;
  return query select r.id, r.name, r.model, r.model_hash, r.data, r.data_note, r.samples,
    r.kernel_class, r.identity, r.settings, r.leat_version, r.payload_bytes, r.weights_bytes,
    r.part_bytes, r.memory_bytes, r.lease_ms, r.renew_ms, r.state, r.sample_bytes,
    r.list_bytes;
end $$;

create function leat.register_machine(p_run bigint, p_machine text, p_secret text, p_name text,
                                      p_hardware text) returns void
language plpgsql as $$
declare
  secret_ text := leat.secret_hash(p_secret);
  known_ text;
begin
  select m.secret into known_ from leat.machine m
  where m.account = session_user and m.id = p_machine;
  if known_ <> secret_ then
    raise exception 'leat: this machine''s key file has lost its secret, or was restored from a '
                    'copy: remove it, or name another one with --key'
      using errcode = 'invalid_parameter_value';
  end if;
  perform leat.make_meter();
  -- New ones, in an hour: every one is a row, and a name in lists.
  delete from leat.machine m where m.account = session_user and m.run is null and m.id <> p_machine
    and not leat.holds(m.seen_at + interval '1 day', 86400000);
  if known_ is null and
     (select count(*) from leat.machine m where m.account = session_user
      and leat.holds(m.created_at + interval '1 hour', 3600000)) >= 64
     and leat.others_work(p_run, session_user) then
    raise exception 'leat: this login has registered 64 machines within an hour; wait for an hour'
      using errcode = 'configuration_limit_exceeded';
  end if;
  -- Not yet a machine of the run: it may have other data or kernels than the run.
  insert into leat.machine as m (account, id, secret, name, hardware, seen_at)
  values (session_user, p_machine, secret_, leat.tidy(p_name), leat.tidy(p_hardware), leat.clock())
  on conflict (account, id) do update set name = excluded.name, hardware = excluded.hardware
  where m.secret = secret_;
  if not found then -- another session was faster
    raise exception 'leat: this machine''s key file has lost its secret, or was restored from a '
                    'copy: remove it, or name another one with --key'
      using errcode = 'invalid_parameter_value';
  end if;
  perform leat.bind(p_machine);
  perform leat.end_leases(p_run, p_machine, 0, 'released', 'the machine began anew');
end $$;

-- The same machine in another session, after a connection that was lost: its leases go on. False: it
-- is not registered.
create function leat.rejoin(p_machine text, p_secret text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  m leat.machine;
begin
  select * into m from leat.machine x where x.account = session_user and x.id = p_machine
    and x.secret = leat.secret_hash(p_secret);
  if not found then return false; end if;
  if leat.suspended(m.run) is null then perform leat.bind(p_machine); end if;
  return true;
end $$;

-- The median time of a finished unit of the open step, or of the one before, in milliseconds.
create function leat.median_ms(p_run bigint, p_step bigint) returns double precision
language sql stable as $$
  select coalesce(
    (select percentile_cont(0.5) within group (order by
       extract(epoch from l.ended_at - l.granted_at)) * 1000
     from leat.lease l where l.run = p_run and l.step = p_step and l.state = 'used'),
    (select percentile_cont(0.5) within group (order by
       extract(epoch from l.ended_at - l.granted_at)) * 1000
     from leat.lease l where l.run = p_run and l.step = p_step - 1 and l.state = 'used'),
    300000)
$$;

-- Whether a lease counts as held by its machine.
create function leat.is_held(l leat.lease, lease_ms bigint) returns boolean
language sql volatile as $$
  select l.state = 'live' and leat.holds(l.until, lease_ms)
$$;

-- Chooses the unit of a claim and locks it: (unit, kind), or nulls.
create function leat.choose(r leat.run, p_machine text, out unit integer, out kind text)
language plpgsql as $$
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
                and leat.is_active(m) and not leat.is_barred(r, m.account));
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
           coalesce(bool_or(l.kind = 'copy') filter (where leat.is_held(l, r.lease_ms)), false)
             as copied,
           count(distinct l.account) filter (where leat.is_held(l, r.lease_ms)) as accounts,
           bool_or(l.account = session_user) as ours,
           bool_or(l.account = session_user and l.machine = p_machine) as mine
    from leat.lease l where (l.run, l.step, l.unit) = (u.run, u.step, u.unit)
    and l.state = 'live') held on true
  -- One copy; but an account that has the copies of its own units does not keep others waiting.
  where u.run = r.id and u.step = r.step and u.state = 'out' and not held.mine
    and (not held.copied or (held.accounts = 1 and not held.ours and held.since + interval
         '1 millisecond' * (2 * greatest(median, r.silent_ms)) < leat.clock()))
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

-- A unit to compute, or none (lease is null): then the machine waits. A machine has two leases at
-- most: one computes while the other's result is sent, and that one is p_kept (or 0). Others of this
-- machine end: their grant never reached it.
create function leat.claim(p_run bigint, p_machine text, p_kept bigint,
                           out lease bigint, out epoch bigint, out step bigint, out unit integer,
                           out kind text, out weights text, out state text, out news text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
  r leat.run;
  now_ timestamptz;
begin
  claim.news := leat.suspended(p_run);
  if claim.news is not null then
    select r.state into claim.state from leat.run r where r.id = p_run;
    return;
  end if;
  if not leat.is_bound(p_machine) then
    raise exception 'leat: the machine is not registered, or works in another session'
      using errcode = 'no_data_found';
  end if;
  select * into r from leat.run where id = p_run for share;
  if not found then
    raise exception 'leat: there is no run %', p_run using errcode = 'no_data_found';
  end if;
  claim.state := r.state;
  select m.news into claim.news from leat.machine m
  where m.account = session_user and m.id = p_machine for update;
  perform leat.stop_suspended(p_run);
  update leat.machine m set seen_at = leat.clock(), news = '', run = r.id
  where m.account = session_user and m.id = p_machine;
  if r.state <> 'open' or r.step < 0 or r.step >= r.steps then return; end if;
  if leat.lapsed(r) is not null then
    claim.news := leat.lapsed(r);
    return;
  end if;
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
  update leat.machine m set granted = granted + leat.parts(r)
  where m.account = session_user and m.id = p_machine;
  update leat.unit u set state = 'out'
  where (u.run, u.step, u.unit) = (r.id, r.step, claim.unit);
  claim.step := r.step;
  claim.weights := r.weights_hash;
end $$;

-- The unit after the one that a machine computes (p_kept), so that it can fetch its samples in the
-- meantime. Given only if every machine that was seen lately can still have a unit: nobody waits for
-- one that another machine only keeps.
create function leat.claim_ahead(p_run bigint, p_machine text, p_kept bigint,
                                 out lease bigint, out epoch bigint, out step bigint,
                                 out unit integer, out kind text, out weights text, out state text,
                                 out news text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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

-- Extends a lease, and is the heartbeat. `why`: stop computing, because ...
create function leat.renew(p_lease bigint, p_epoch bigint, out why text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  k record;
  l leat.lease;
  r leat.run;
  now_ timestamptz;
begin
  renew.why := leat.kept_from(p_lease, p_epoch);
  if renew.why is not null then return; end if;
  renew.why := leat.end_overdue(p_lease, p_epoch);
  k := leat.lock_lease(p_lease, p_epoch);
  l := k.l;
  renew.why := coalesce(renew.why, k.why);
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

-- The machine ends: somebody else may have the unit at once.
create function leat.release(p_lease bigint, p_epoch bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if leat.kept_from(p_lease, p_epoch) is not null or
     not exists (select from leat.lease l where l.lease = p_lease and l.epoch = p_epoch
                 and l.account = session_user) then return false; end if;
  return leat.end_lease(p_lease, 'released', '');
end $$;

-- The machine could not compute the unit.
create function leat.fail(p_lease bigint, p_epoch bigint, p_reason text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  l leat.lease;
begin
  if leat.kept_from(p_lease, p_epoch) is not null then return false; end if;
  select * into l from leat.lease x where x.lease = p_lease and x.epoch = p_epoch
    and x.account = session_user;
  if not found then return false; end if;
  if not leat.end_lease(p_lease, 'failed', leat.tidy(p_reason)) then return false; end if;
  perform leat.note(l.run, 'failed', session_user, l.machine,
                    format('step %s, unit %s: %s', l.step + 1, l.unit, leat.tidy(p_reason)));
  return true;
end $$;

-- The machine is too slow for the run: its last word on that is kept.
create function leat.slow(p_run bigint, p_machine text, p_words text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if leat.suspended(p_run) is not null or not leat.is_bound(p_machine) then return; end if;
  perform from leat.machine m
  where m.account = session_user and m.id = p_machine and m.run = p_run for update;
  if not found then return; end if;
  perform leat.stop_suspended(p_run);
  delete from leat.event e where e.run = p_run and e.kind = 'slow' and e.account = session_user
    and e.machine = p_machine;
  perform leat.note(p_run, 'slow', session_user, p_machine, leat.tidy(p_words));
end $$;

-- Stores part p_part of a result, and renews the lease. Parts may come again, in any order.
create function leat.put(p_lease bigint, p_epoch bigint, p_part integer, p_bytes bytea,
                         out why text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  k record;
  l leat.lease;
  r leat.run;
  length_ bigint;
begin
  put.why := leat.kept_from(p_lease, p_epoch);
  if put.why is null then put.why := leat.end_overdue(p_lease, p_epoch); end if;
  if put.why is not null then return; end if;
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
  put.why := leat.count_part(r);
  if put.why is not null then return; end if;
  execute format('insert into leat.part_%s_%s values ($1, $2, $3) on conflict do nothing', r.id,
                 l.step % 2) using p_lease, p_part, p_bytes;
  update leat.lease x set renewed_at = leat.clock(),
    until = leat.clock() + r.lease_ms * interval '1 millisecond' where x.lease = p_lease;
end $$;

-- What is wrong with the parts of a lease; null: they have the hash. Nothing is locked meanwhile: a
-- large result takes a slow server a while, and parts that are here never change.
create function leat.check_parts(p_lease bigint, p_hash text) returns text
language plpgsql as $$
declare
  l leat.lease;
  r leat.run;
  bytes_ bytea;
begin
  select * into l from leat.lease x where x.lease = p_lease and x.account = session_user;
  select * into r from leat.run where id = l.run;
  if not found then return null; end if; -- submit says so
  if l.state <> 'live' or r.step <> l.step then return 'the step is not open any more'; end if;
  execute format('select string_agg(bytes, '''' order by part) from leat.part_%s_%s
                  where lease = $1', r.id, l.step % 2) into bytes_ using p_lease;
  if coalesce(octet_length(bytes_), 0) <> r.payload_bytes then
    return format('%s bytes of %s were received', coalesce(octet_length(bytes_), 0),
                  r.payload_bytes);
  elsif encode(sha256(bytes_), 'hex') <> p_hash then
    return 'the bytes received do not have the hash';
  end if;
  return null;
end $$;

-- Hands in the result: `why` is null if it was received. The same again is received again.
create function leat.submit(p_lease bigint, p_epoch bigint, p_hash text, out why text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  k record;
  l leat.lease;
  r leat.run;
  u leat.unit;
  wrong_ text;
begin
  submit.why := leat.kept_from(p_lease, p_epoch);
  if submit.why is not null then return; end if;
  wrong_ := leat.check_parts(p_lease, p_hash);
  select * into l from leat.lease x where x.lease = p_lease and x.account = session_user
    and x.epoch = p_epoch;
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
    submit.why := wrong_;
  end if;
  if submit.why is not null then return; end if;
  update leat.lease x set state = 'used', ended_at = leat.clock() where x.lease = p_lease;
  update leat.unit x set state = 'done', lease = p_lease, hash = p_hash
  where (x.run, x.step, x.unit) = (l.run, l.step, l.unit);
  update leat.lease x set state = 'superseded', ended_at = leat.clock()
  where (x.run, x.step, x.unit) = (l.run, l.step, l.unit) and x.state = 'live';
  update leat.machine m set seen_at = leat.clock(), bytes = m.bytes + r.payload_bytes
  where m.account = session_user and m.id = l.machine;
end $$;

-- A part of the weights with this hash; null if they are not (or no longer) here.
create function leat.fetch(p_run bigint, p_weights text, p_part integer) returns bytea
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  r leat.run;
  bytes_ bytea;
begin
  select * into r from leat.run where id = p_run;
  if not found or r.weights_hash <> p_weights then return null; end if;
  execute format('select bytes from leat.weights_%s_%s where part = $1', r.id, r.weights_slot)
  into bytes_ using p_part;
  return bytes_;
end $$;

-- Samples by number, one after the other in the order asked, at most a part of them; null if they
-- are not all here.
create function leat.samples(p_run bigint, p_samples bigint[]) returns bytea
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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
end $$;

-- A part of the list of samples; null if it is not here.
create function leat.fetch_list(p_run bigint, p_part integer) returns bytea
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  bytes_ bytea;
begin
  perform from leat.run where id = p_run and list_bytes > 0;
  if not found then return null; end if;
  execute format('select bytes from leat.list_%s where part = $1', p_run) into bytes_ using p_part;
  return bytes_;
end $$;

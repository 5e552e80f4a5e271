-- The schema `leat`, third part: what the coordinator calls, what everybody may read, and rights.

-- ---- The run and its tables --------------------------------------------------------------------

-- A run, not yet open: leat.open_step opens it once its weights are here. p_value_names has a blank
-- between two.
create function leat.create_run(
  p_name text, p_identity text, p_settings text, p_model text, p_model_hash text, p_data text,
  p_data_note text, p_samples bigint, p_kernel_class text, p_version text, p_units integer,
  p_unit_size bigint, p_steps bigint, p_payload_bytes bigint, p_weights_bytes bigint,
  p_state_bytes bigint, p_part_bytes integer, p_memory_bytes bigint, p_lease_ms bigint,
  p_renew_ms bigint, p_silent_ms bigint, p_hold_ms bigint, p_sample_bytes bigint,
  p_value_names text)
returns bigint
language plpgsql as $$
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

-- A server that crashes empties the parts: the units are computed again.
create function leat.create_parts(p_run bigint, p_slot integer) returns void
language plpgsql as $$
begin
  execute format('create unlogged table leat.part_%s_%s (lease bigint, part integer,
                  bytes bytea not null, primary key (lease, part))', p_run, p_slot);
  execute format('alter table leat.part_%s_%s alter bytes set storage external', p_run, p_slot);
end $$;

create function leat.drop_run(p_run bigint) returns void
language plpgsql as $$
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

-- ---- The hold ----------------------------------------------------------------------------------

-- Takes the run, or renews the hold with this fence and epoch. Another coordinator holds it: its
-- name and the time left are returned, and fence is null.
create function leat.hold(p_run bigint, p_name text, p_fence bigint, p_epoch bigint,
                          out fence bigint, out epoch bigint, out holder text, out left_ms bigint)
language plpgsql as $$
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

-- Renews the hold, and never takes it over.
create function leat.renew_hold(p_run bigint, p_fence bigint, p_epoch bigint) returns void
language plpgsql as $$
begin
  perform leat.fenced(p_run, p_fence, p_epoch);
  update leat.run set coordinator_until = leat.clock() + hold_ms * interval '1 millisecond'
  where id = p_run;
end $$;

-- Every write of a coordinator begins here.
create function leat.fenced(p_run bigint, p_fence bigint, p_epoch bigint) returns leat.run
language plpgsql as $$
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

-- The run is left to others at once; this fence writes no more.
create function leat.give_up(p_run bigint, p_fence bigint, p_epoch bigint) returns void
language plpgsql as $$
begin
  perform leat.fenced(p_run, p_fence, p_epoch);
  update leat.run set coordinator = '', coordinator_until = '-infinity', fence = fence + 1
  where id = p_run;
end $$;

-- A run goes on, with the times of its new coordinator, to another last step perhaps. p_units: of
-- the open step.
create function leat.resume_run(p_run bigint, p_fence bigint, p_epoch bigint, p_steps bigint,
                                p_lease_ms bigint, p_renew_ms bigint, p_silent_ms bigint,
                                p_hold_ms bigint, p_data_note text, p_units integer) returns void
language plpgsql as $$
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

-- Makes those units of a step ready that are not there; how many it has, the coordinator knows.
create function leat.add_units(r leat.run, p_step bigint, p_units integer) returns void
language plpgsql as $$
begin
  if p_units is null or p_units not between 1 and r.units then
    raise exception 'leat: a step of this run has at most % units, and at least one, not %',
      r.units, p_units using errcode = 'invalid_parameter_value';
  end if;
  insert into leat.unit (run, step, unit)
  select r.id, p_step, n from generate_series(0, p_units - 1) n on conflict do nothing;
end $$;

-- ---- The data set, for workers that do not have it ---------------------------------------------

-- From now on the run keeps its data set here. How many samples are here, from the first on.
create function leat.serve_data(p_run bigint, p_fence bigint, p_epoch bigint, p_sample_bytes bigint)
returns bigint
language plpgsql as $$
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

create function leat.data_count(p_run bigint) returns bigint
language plpgsql stable as $$
declare
  count_ bigint;
begin
  -- put_data leaves no gaps
  execute format('select coalesce(max(sample) + 1, 0) from leat.data_%s', p_run) into count_;
  return count_;
end $$;

-- Stores samples p_first, p_first + 1, ..., which follow those that are here or are among them.
create function leat.put_data(p_run bigint, p_fence bigint, p_epoch bigint, p_first bigint,
                              p_bytes bytea) returns void
language plpgsql as $$
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
end $$;

-- Stores part p_part of the list of samples; the first one takes the place of what is there.
create function leat.put_list(p_run bigint, p_fence bigint, p_epoch bigint, p_part integer,
                              p_bytes bytea) returns void
language plpgsql as $$
begin
  perform leat.fenced(p_run, p_fence, p_epoch);
  if p_part = 0 then
    update leat.run set list_bytes = 0 where id = p_run;
    execute format('delete from leat.list_%s', p_run);
  end if;
  execute format('insert into leat.list_%s values ($1, $2)', p_run) using p_part, p_bytes;
end $$;

-- The list of samples has p_bytes bytes, and all of them are here.
create function leat.keep_list(p_run bigint, p_fence bigint, p_epoch bigint, p_bytes bigint)
returns void
language plpgsql as $$
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

-- ---- Weights and state, in slots ---------------------------------------------------------------

-- The table of a slot: 'weights', 'state' or 'part', 0 or 1. The weights that workers fetch and the
-- state that a resume would read cannot be named.
create function leat.slot(r leat.run, p_kind text, p_slot integer) returns regclass
language plpgsql as $$
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

-- Empties a slot. Readers that hold it longer than p_wait_ms, such as a dump, are left alone: then
-- its rows are deleted, and vacuum returns their space later.
create function leat.clear_slot(p_run bigint, p_fence bigint, p_epoch bigint, p_kind text,
                                p_slot integer, p_wait_ms integer) returns text
language plpgsql as $$
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

create function leat.put_slot(p_run bigint, p_fence bigint, p_epoch bigint, p_kind text,
                              p_slot integer, p_part integer, p_bytes bytea) returns void
language plpgsql as $$
declare
  table_ regclass := leat.slot(leat.fenced(p_run, p_fence, p_epoch), p_kind, p_slot);
begin
  execute format('insert into %s values ($1, $2) on conflict (part) do update set bytes = $2',
                 table_) using p_part, p_bytes;
end $$;

-- ---- Steps -------------------------------------------------------------------------------------

-- Opens step p_step, whose weights are in a slot: of a new run, or of one that continues before or
-- after what is here. All leases end, and what was handed in counts no more. p_units: of this step,
-- of which there are none after the last one.
create function leat.open_step(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint,
                               p_slot integer, p_weights text, p_units integer) returns void
language plpgsql as $$
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

-- What has been handed in for the open step and was not judged yet.
create function leat.arrived(p_run bigint)
returns table (unit integer, lease bigint, account name, machine text, hash text)
language sql stable as $$
  select u.unit, u.lease, l.account, l.machine, u.hash
  from leat.run r join leat.unit u on u.run = r.id and u.step = r.step and u.state = 'done'
  join leat.lease l on l.lease = u.lease
  where r.id = p_run order by u.unit
$$;

create function leat.read_part(p_run bigint, p_step bigint, p_lease bigint, p_part integer)
returns bytea
language plpgsql stable as $$
declare
  bytes_ bytea;
begin
  execute format('select bytes from leat.part_%s_%s where lease = $1 and part = $2', p_run,
                 p_step % 2) into bytes_ using p_lease, p_part;
  return bytes_;
end $$;

-- The result of a unit counts. False if it is not the one that is there.
create function leat.confirm(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint,
                             p_unit integer, p_lease bigint) returns boolean
language plpgsql as $$
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
  update leat.machine m set accepted = accepted + 1
  where m.account = l.account and m.id = l.machine;
  -- last, because the machine's row may be waited for, and this one must not be (leat.blame)
  insert into leat.account as a (name, accepted) values (l.account, 1)
  on conflict (name) do update set accepted = a.accepted + 1;
  return true;
end $$;

-- The result of a unit is wrong (p_mismatch: it is not what the unit gives), or its parts are gone
-- (p_reason is empty): somebody computes it again.
create function leat.refuse(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint,
                            p_unit integer, p_lease bigint, p_mismatch boolean, p_reason text)
returns boolean
language plpgsql as $$
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
  update leat.machine m set refused = refused + 1,
    news = left(format('step %s, unit %s was refused: %s', p_step + 1, p_unit, p_reason), 500)
  where m.account = l.account and m.id = l.machine;
  perform leat.note(p_run, 'refused', l.account, l.machine,
                    format('step %s, unit %s: %s', p_step + 1, p_unit, p_reason));
  perform leat.count_refusal(p_run, l.account, p_mismatch);
  return true;
end $$;

-- What is known of a login stays, under a name that no login has: another one that is given its name
-- has not done that, nor is it suspended for it.
create function leat.retire(p_account name) returns void
language plpgsql as $$
declare
  words_ text;
  name_ name;
  n integer := 1;
begin
  loop
    words_ := ' (removed ' || to_char(leat.clock() at time zone 'UTC', 'YYYY-MM-DD') ||
              case when n > 1 then ', ' || n else '' end || ')';
    -- a name has 63 bytes at most
    select left(p_account, max(i)) || words_ into name_ from generate_series(0, 63) i
    where octet_length(left(p_account, i)) + octet_length(words_) < 64;
    exit when not exists (select from leat.account where name = name_)
      and not exists (select from leat.meter where account = name_)
      and not exists (select from leat.machine where account = name_)
      and not exists (select from leat.event where account = name_)
      and not exists (select from pg_roles where rolname = name_);
    n := n + 1;
  end loop;
  update leat.lease set account = name_ where account = p_account;
  update leat.machine set account = name_ where account = p_account;
  update leat.event set account = name_ where account = p_account;
  update leat.account set name = name_ where name = p_account;
  update leat.meter set account = name_ where account = p_account;
end $$;

-- A login is removed: its leases end, and its results of the open steps that were not counted yet
-- are not counted. Those of earlier steps, and what was counted of the open ones, stay.
create function leat.revoke(p_account name, out leases bigint, out results bigint,
                            out counted bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  l record;
begin
  revoke.leases := 0;
  for l in select x.lease from leat.lease x where x.account = p_account and x.state = 'live'
           order by x.run, x.step, x.unit, x.lease loop
    if leat.end_lease(l.lease, 'released', 'the login was removed') then
      revoke.leases := revoke.leases + 1;
    end if;
  end loop;
  perform from leat.run r where r.state <> 'finished' order by r.id for share;
  perform from leat.unit u join leat.lease x on x.lease = u.lease
  where x.account = p_account order by u.run, u.step, u.unit for update of u;
  with back as (
    update leat.unit u set state = 'ready', lease = null, hash = null from leat.lease x, leat.run r
    where x.lease = u.lease and x.account = p_account and r.id = u.run and u.step = r.step
      and u.state = 'done' and r.state <> 'finished' returning x.lease)
  update leat.lease y set state = 'refused', ended_at = leat.clock() from back
  where y.lease = back.lease;
  get diagnostics revoke.results = row_count;
  select count(*) into revoke.counted from leat.unit u join leat.lease x on x.lease = u.lease
  join leat.run r on r.id = u.run
  where x.account = p_account and u.step = r.step and u.state = 'confirmed';
  perform leat.retire(p_account);
end $$;

-- The coordinator has computed the unit itself.
create function leat.own_result(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint,
                                p_unit integer, p_hash text) returns boolean
language plpgsql as $$
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

-- Units of the open step that nobody but the coordinator should try: three accounts failed, or as
-- many as work now, or five leases ended in silence, of which two of an account count. Where there is
-- one account, its machines are counted instead, and all of its silences. A refused result is a
-- failure; one that a crash took (no reason) is not. Accounts that get no units now do not count, and
-- where nobody else is there, all units are the coordinator's.
create function leat.hopeless(p_run bigint) returns setof integer
language sql volatile as $$
  with active as (
    select x.account, x.machines, leat.is_barred(r, x.account) as barred
    from leat.run r, (select m.account, count(*) as machines from leat.machine m
             where m.run = p_run and leat.is_active(m) group by m.account) x
    where r.id = p_run),
  now_ as (
    select count(*) filter (where not barred) as accounts,
           coalesce(sum(machines) filter (where not barred), 0) as machines,
           count(*) filter (where barred) as barred
    from active),
  each as (
    select u.unit, l.account,
           count(distinct l.machine) filter (
             where l.state = 'failed' or (l.state = 'refused' and l.reason <> '')) as failed,
           count(*) filter (where l.state = 'expired' or l.reason = 'the machine began anew')
             as silent
    from leat.run r join leat.unit u on u.run = r.id and u.step = r.step
    join leat.lease l on (l.run, l.step, l.unit) = (u.run, u.step, u.unit)
    where r.id = p_run and u.state in ('ready', 'out')
      and not exists (select from active a where a.barred and a.account = l.account)
    group by u.unit, l.account),
  tried as (
    select e.unit from each e cross join now_ n
    group by e.unit, n.accounts, n.machines
    having case when n.accounts > 1
           then count(*) filter (where e.failed > 0) >= least(3, n.accounts)
                or sum(least(2, e.silent)) >= least(5, 2 * n.accounts)
           else sum(e.failed) >= least(3, greatest(1, n.machines)) or sum(e.silent) >= 5 end)
  select unit from tried
  union
  select u.unit from now_ n, leat.run r join leat.unit u on u.run = r.id and u.step = r.step
  where r.id = p_run and n.accounts = 0 and n.barred > 0 and u.state = 'ready'
  order by 1
$$;

-- Commits step p_step, whose p_units units are all confirmed: the weights of the next one, which has
-- p_next_units, are in a slot, and so is the state, unless p_state_slot is null. Nothing is written
-- if any condition is not met.
create function leat.commit_step(
  p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint, p_weights_slot integer,
  p_weights text, p_state_slot integer, p_state text, p_samples bigint,
  p_values double precision[], p_units integer, p_next_units integer,
  p_gradient_norm double precision, p_statistics_norm double precision) returns void
language plpgsql as $$
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
  insert into leat.step (run, step, committed_at, state_hash, samples, values, gradient_norm,
                         statistics_norm, workers)
  values (p_run, p_step, leat.clock(), p_state, p_samples, p_values, p_gradient_norm,
          p_statistics_norm, workers_);
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
end $$;

-- A state that is written between commits: that of the open step.
create function leat.keep_state(p_run bigint, p_fence bigint, p_epoch bigint, p_step bigint,
                                p_slot integer, p_state text) returns void
language plpgsql as $$
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

create function leat.set_state(p_run bigint, p_fence bigint, p_epoch bigint, p_state text,
                               p_reason text) returns void
language plpgsql as $$
begin
  perform leat.fenced(p_run, p_fence, p_epoch);
  update leat.run set state = p_state, reason = p_reason where id = p_run;
end $$;

-- Whether a table of parts can be read, each of them at its end, and written. After a failover some
-- servers have unlogged tables without files, or with damaged ones.
create function leat.has_parts(p_run bigint, p_slot integer) returns boolean
language plpgsql as $$
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

-- Units of the open step whose parts are gone, after a crash of the server: computed again. Those
-- that the coordinator keeps itself are not asked for.
create function leat.recover(p_run bigint, p_fence bigint, p_epoch bigint, p_kept integer[])
returns integer
language plpgsql as $$
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
end $$;

-- ---- Views -------------------------------------------------------------------------------------
-- Without payloads, and without the hash of any result of a step that is not committed. All but the
-- first have the names of GANNs-with-friends, and losses only of runs whose values have those names.
-- Samples of a unit, and what follows from them, are null where units differ.

create view leat.step_values with (security_barrier) as
  select s.run, s.step as iteration, n.position, n.name, s.values[n.position] as value
  from leat.step s join leat.run r on r.id = s.run
  cross join lateral unnest(r.value_names) with ordinality n (name, position);

create view leat.training_state with (security_barrier) as
  select r.id as run, r.name, r.model, r.step as current_iteration,
         coalesce(s.samples, r.step * r.units * nullif(r.unit_size, 0)) / r.samples
           as current_epoch, r.steps,
         s.values[array_position(r.value_names, 'loss_g')] as generator_loss,
         s.values[array_position(r.value_names, 'loss_d_images')] +
           s.values[array_position(r.value_names, 'loss_d_fakes')] as discriminator_loss,
         coalesce(s.samples, r.step * r.units * nullif(r.unit_size, 0)) as total_images_processed,
         r.state = 'open' as training_active, r.state, r.reason, r.weights_hash,
         r.weights_bytes, r.payload_bytes, r.units, r.unit_size, r.samples, r.coordinator,
         leat.holds(r.coordinator_until, r.hold_ms) as coordinated,
         coalesce(s.committed_at, r.created_at) as updated_at
  from leat.run r left join leat.step s on s.run = r.id and s.step = r.step - 1;

create view leat.work_units with (security_barrier) as
  select u.run, u.step as iteration, u.unit as id,
         (u.step * r.units + u.unit) * nullif(r.unit_size, 0) as start_index,
         (u.step * r.units + u.unit + 1) * nullif(r.unit_size, 0) as end_index,
         (u.step * r.units + u.unit) * nullif(r.unit_size, 0) / r.samples as epoch,
         case u.state when 'ready' then 'pending' when 'out' then 'in_progress'
           when 'failed' then 'failed' else 'completed' end as status,
         l.machine as claimed_by, l.granted_at as claimed_at, l.until as timeout_at,
         l.ended_at as completed_at
  from leat.unit u join leat.run r on r.id = u.run left join lateral (
    select x.machine, x.granted_at, x.until, x.ended_at from leat.lease x
    where (x.run, x.step, x.unit) = (u.run, u.step, u.unit) and x.state in ('live', 'used')
    order by x.state = 'used' desc, x.lease limit 1) l on true;

create view leat.gradients with (security_barrier) as
  select u.run, u.step as iteration, u.unit as work_unit_id, l.machine as worker_id,
         nullif(r.unit_size, 0) as num_samples, r.payload_bytes as bytes,
         case when u.step < r.step then u.hash end as hash, l.ended_at as created_at
  from leat.unit u join leat.run r on r.id = u.run join leat.lease l on l.lease = u.lease
  where u.state in ('done', 'confirmed');

create view leat.loss_history with (security_barrier) as
  select s.run, s.step as iteration, s.samples / r.samples as epoch,
         v.loss_g as g_loss, v.loss_d_images + v.loss_d_fakes as d_loss, v.loss_d_images,
         v.loss_d_fakes, v.norm_d, v.norm_g, s.workers as num_workers, s.state_hash,
         s.committed_at as created_at
  from leat.step s join leat.run r on r.id = s.run cross join lateral (
    select s.values[array_position(r.value_names, 'loss_d_images')] as loss_d_images,
           s.values[array_position(r.value_names, 'loss_d_fakes')] as loss_d_fakes,
           s.values[array_position(r.value_names, 'loss_g')] as loss_g,
           s.values[array_position(r.value_names, 'norm_d')] as norm_d,
           s.values[array_position(r.value_names, 'norm_g')] as norm_g) v;

create view leat.workers with (security_barrier) as
  select m.account, m.id as worker_id, m.name, m.hardware, m.created_at as first_seen,
         m.seen_at as last_heartbeat,
         case when leat.holds(m.seen_at + interval '2 minutes', 120000) then 'active'
           else 'inactive' end as status,
         m.accepted as total_work_units, m.accepted * nullif(r.unit_size, 0) as total_images,
         m.refused, m.bytes, m.run
  from leat.machine m left join leat.run r on r.id = m.run;

create view leat.events with (security_barrier) as
  select e.run, e.id, e.at, e.kind, e.account, e.machine as worker_id, m.name, e.words
  from leat.event e left join leat.machine m on (m.account, m.id) = (e.account, e.machine);

-- ---- Rights ------------------------------------------------------------------------------------

revoke all on all tables in schema leat from public;
revoke all on all functions in schema leat from public;
grant select on leat.step_values, leat.training_state, leat.work_units, leat.gradients,
  leat.loss_history, leat.workers, leat.events, leat.version to public;
grant execute on function leat.clock(), leat.holds(timestamptz, bigint),
  leat.register(text, text, text, text, text), leat.rejoin(text, text),
  leat.claim(bigint, text, bigint), leat.renew(bigint, bigint),
  leat.release(bigint, bigint), leat.fail(bigint, bigint, text), leat.slow(bigint, text, text),
  leat.put(bigint, bigint, integer, bytea), leat.submit(bigint, bigint, text),
  leat.fetch(bigint, text, integer), leat.samples(bigint, bigint[]),
  leat.claim_ahead(bigint, text, bigint), leat.fetch_list(bigint, integer) to public;

-- SPDX-License-Identifier: Apache-2.0
-- Errors of every kind, from many depths, for a Lua built as C++, where each
-- is a throw and a catch.  usage: throw.lua ROUNDS SEED
local rounds, seed = tonumber(arg[1]), tonumber(arg[2])

local function random(n)
  seed = (seed * 48271) % 2147483647
  return seed % n
end

-- A parser that reports every mistake as an error with a position.
local function parse(text)
  local at = 1
  local expression
  local function fail(what) error({ at = at, what = what }) end
  local function atom()
    local c = text:sub(at, at)
    if c == "(" then
      at = at + 1
      local value = expression()
      if text:sub(at, at) ~= ")" then fail("close") end
      at = at + 1
      return value
    end
    local digits = text:match("^%d+", at)
    if not digits then fail("number") end
    at = at + #digits
    return tonumber(digits)
  end
  local function term()
    local value = atom()
    while text:sub(at, at) == "*" do
      at = at + 1
      value = value * atom() % 10007
    end
    return value
  end
  expression = function()
    local value = term()
    while text:sub(at, at) == "+" do
      at = at + 1
      value = (value + term()) % 10007
    end
    return value
  end
  local value = expression()
  if at <= #text then fail("end") end
  return value
end

local function formula(depth)
  local kind = random(depth > 0 and 4 or 1)
  if kind == 0 then return tostring(random(100)) end
  if kind == 1 then return "(" .. formula(depth - 1) .. ")" end
  local op = kind == 2 and "+" or "*"
  return formula(depth - 1) .. op .. formula(depth - 1)
end

-- Breaks one text in two by putting a wrong character somewhere.
local function spoil(text)
  if random(2) == 0 then return text end
  local i = 1 + random(#text)
  return text:sub(1, i - 1) .. "?" .. text:sub(i + 1)
end

local proxy = setmetatable({}, {
  __index = function(_, key) error("no " .. key, 0) end,
  __add = function() error("sum", 0) end,
})

local function descend(n)
  if n == 0 then return proxy + 1 end
  return 1 + descend(n - 1)
end

local function generator()
  coroutine.yield(1)
  return proxy.missing
end

local total = 0
for round = 1, rounds do
  for i = 1, 3000 do
    local ok, result = pcall(parse, spoil(formula(6)))
    if ok then
      total = total + result
    else
      total = total + result.at + #result.what
    end
    ok, result = pcall(descend, i % 23)
    total = total + #result
    if i % 5 == 0 then
      local thread = coroutine.create(generator)
      coroutine.resume(thread)
      local _, reason = coroutine.resume(thread)
      total = total + #reason
    end
    ok, result = xpcall(descend, function(m) return m .. "!" end, 2)
    total = total + #result
  end
  print(round, total)
end

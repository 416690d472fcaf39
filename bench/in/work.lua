-- SPDX-License-Identifier: Apache-2.0
-- Work for the Lua interpreter: tables, strings, closures, objects,
-- coroutines, floats and errors.  usage: work.lua ROUNDS SEED
local rounds, seed = tonumber(arg[1]), tonumber(arg[2])

local function random(n)
  seed = (seed * 48271) % 2147483647
  return seed % n
end

-- LZ78 over a random text: string slicing and a growing table.
local function compress(length)
  local letters = {}
  for i = 1, length do letters[i] = string.char(97 + random(4)) end
  local text = table.concat(letters)
  local seen, size, phrase, codes = {}, 0, "", 0
  for i = 1, #text do
    local longer = phrase .. text:sub(i, i)
    if seen[longer] then
      phrase = longer
    else
      size = size + 1
      seen[longer] = size
      codes = codes + (seen[phrase] or 0)
      phrase = ""
    end
  end
  return size, codes % 65521
end

local function multiply(n)
  local function matrix(f)
    local m = {}
    for i = 1, n do
      local row = {}
      for j = 1, n do row[j] = f(i, j) end
      m[i] = row
    end
    return m
  end
  local a = matrix(function(i, j) return (i * j) % 7 - 3 end)
  local b = matrix(function(i, j) return (i + 2 * j) % 5 + 0.5 end)
  local c = matrix(function(i, j)
    local sum = 0.0
    local row = a[i]
    for k = 1, n do sum = sum + row[k] * b[k][j] end
    return sum
  end)
  return c[1][n], c[n][1]
end

-- A heap as an object with a metatable.
local Heap = {}
Heap.__index = Heap
function Heap.new(less) return setmetatable({ n = 0, less = less }, Heap) end
function Heap:push(x)
  local i = self.n + 1
  self.n = i
  while i > 1 and self.less(x, self[i // 2]) do
    self[i] = self[i // 2]
    i = i // 2
  end
  self[i] = x
end
function Heap:pop()
  local top, x = self[1], self[self.n]
  self[self.n] = nil
  self.n = self.n - 1
  local i = 1
  while 2 * i <= self.n do
    local child = 2 * i
    if child < self.n and self.less(self[child + 1], self[child]) then
      child = child + 1
    end
    if not self.less(self[child], x) then break end
    self[i] = self[child]
    i = child
  end
  if self.n > 0 then self[i] = x end
  return top
end

local function heapsort(n)
  local heap = Heap.new(function(a, b) return a < b end)
  for _ = 1, n do heap:push(random(100000)) end
  local sum, last = 0, -1
  for i = 1, n do
    local x = heap:pop()
    assert(x >= last)
    last = x
    sum = (sum + i * x) % 1000003
  end
  return sum
end

local function permutations(n)
  local items = {}
  for i = 1, n do items[i] = i end
  local function generate(k)
    if k == 1 then
      coroutine.yield(items)
    else
      for i = 1, k do
        generate(k - 1)
        local j = k % 2 == 0 and i or 1
        items[j], items[k] = items[k], items[j]
      end
    end
  end
  local fixed = 0
  for p in coroutine.wrap(function() generate(n) end) do
    for i = 1, n do if p[i] == i then fixed = fixed + 1 end end
  end
  return fixed
end

local function patterns(n)
  local lines = {}
  for i = 1, n do
    lines[i] = ("key%d = %d; note=%s"):format(random(50), i, ("x"):rep(i % 9))
  end
  local total = 0
  for line in table.concat(lines, "\n"):gmatch("[^\n]+") do
    local key, value, note = line:match("^(%w+)%s*=%s*(%d+);%s*note=(x*)$")
    total = total + tonumber(value) + #key + #note
  end
  return total
end

local function errors(n)
  local caught = 0
  local function check(x)
    if x % 3 == 0 then error({ value = x }) end
    if x % 7 == 0 then return x + nil end
    return x
  end
  for i = 1, n do
    local ok, reason = pcall(check, i)
    if not ok then
      caught = caught + (type(reason) == "table" and reason.value or 1)
    end
  end
  return caught
end

for round = 1, rounds do
  print(round, compress(30000), multiply(40))
  print(heapsort(6000), permutations(7), patterns(3000), errors(12000))
end

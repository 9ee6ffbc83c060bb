// Lists, tuples and dicts. What changes a list changes it for all that hold it.

#include <algorithm>
#include <limits>

#include "core/io/torchscript/builtins.h"

namespace sonde::io::script {

using tensor::ValueKind;
using trace::TraceErrorKind;

namespace {

bool getItem(Arguments& in, ScriptValue& out) {
    if (in.size() != 2) return false;
    if (const std::vector<ScriptValue>* items = itemsOf(in[0])) {
        out = (*items)[checkedIndex(intOf(in[1]), items->size())];
    } else if (DictValue* dict = in[0].dict()) {
        const ScriptValue* found = entryOf(*dict, in[1]);
        if (!found) fail(TraceErrorKind::Key, textOf(in[1], true));
        out = ScriptValue(*found);
    } else if (in[0].isString()) {
        out = Var(std::string(1, stringOf(in[0])[checkedIndex(intOf(in[1]), stringOf(in[0]).size())]));
    } else {
        return false;
    }
    return true;
}

bool setItem(Arguments& in, ScriptValue& out) {
    if (in.size() != 3) return false;
    if (ListValue* list = in[0].list()) {
        list->items[checkedIndex(intOf(in[1]), list->items.size())] = in[2];
    } else if (DictValue* dict = in[0].dict()) {
        countWork(dict->items.size());
        setEntry(*dict, in[1], in[2]);
    } else {
        return false;
    }
    out = in[0];
    return true;
}

bool contains(Arguments& in, ScriptValue& out) {
    if (in.size() != 2) return false;
    if (const std::vector<ScriptValue>* items = itemsOf(in[0])) {
        out = Var(std::ranges::any_of(*items, [&](const ScriptValue& item) { return equalValues(item, in[1]); }));
    } else if (DictValue* dict = in[0].dict()) {
        out = Var(entryOf(*dict, in[1]) != nullptr);
    } else if (in[0].isString() && in[1].isString()) {
        out = Var(stringOf(in[0]).find(stringOf(in[1])) != std::string::npos);
    } else {
        return false;
    }
    return true;
}

bool append(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !in[0].list()) return false;
    if (in[0].list()->items.size() >= kMaxElements) fail(TraceErrorKind::Runtime, "a list exceeds the size limit");
    const std::vector<ScriptValue>* inner = itemsOf(in[1]);
    if (inner == &in[0].list()->items) fail(TraceErrorKind::Runtime, "a list is put into itself");
    in[0].list()->items.push_back(in[1]);
    out = in[0];
    return true;
}

bool insert(Arguments& in, ScriptValue& out) {
    if (in.size() != 3 || !in[0].list()) return false;
    std::vector<ScriptValue>& items = in[0].list()->items;
    std::int64_t at = intOf(in[1]);
    const auto size = static_cast<std::int64_t>(items.size());
    if (at < 0) at += size;
    countWork(4 * items.size());
    items.insert(items.begin() + std::clamp<std::int64_t>(at, 0, size), in[2]);
    out = in[0];
    return true;
}

bool pop(Arguments& in, ScriptValue& out) {
    if (in.empty() || !in[0].list()) return false;
    std::vector<ScriptValue>& items = in[0].list()->items;
    const std::size_t at = checkedIndex(in.size() > 1 ? intOf(in[1]) : -1, items.size());
    out = ScriptValue(items[at]);
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
    return true;
}

bool extend(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !in[0].list() || !itemsOf(in[1])) return false;
    const std::vector<ScriptValue> more = *itemsOf(in[1]);
    if (in[0].list()->items.size() + more.size() > kMaxElements)
        fail(TraceErrorKind::Runtime, "a list exceeds the size limit");
    countElements(more.size());
    in[0].list()->items.insert(in[0].list()->items.end(), more.begin(), more.end());
    out = in[0];
    return true;
}

/// slice(list, start, end, step) of lists and strings: bounds as in Python (PySlice_AdjustIndices), where the largest
/// integer stands for a bound that was left out.
bool slice(Arguments& in, ScriptValue& out) {
    const std::vector<ScriptValue>* items = in.empty() ? nullptr : itemsOf(in[0]);
    const bool isText = !in.empty() && in[0].isString();
    if (!items && !isText) return false;
    const auto size = static_cast<std::int64_t>(items ? items->size() : stringOf(in[0]).size());
    const std::int64_t step = in.size() > 3 && !in[3].isNone() ? intOf(in[3]) : 1;
    if (step == 0) fail(TraceErrorKind::Value, "a slice needs a step that is not 0");
    const std::int64_t first = step > 0 ? 0 : -1;  // the minimum that a bound can be
    const auto bound = [&](std::size_t i, std::int64_t otherwise) {
        if (in.size() <= i || in[i].isNone() || intOf(in[i]) == std::numeric_limits<std::int64_t>::max())
            return otherwise;
        const std::int64_t given = intOf(in[i]);
        return std::clamp<std::int64_t>(given < 0 ? given + size : given, first, step > 0 ? size : size - 1);
    };
    const std::int64_t start = bound(1, step > 0 ? 0 : size - 1);
    const std::int64_t stop = bound(2, step > 0 ? size : -1);
    countElements(static_cast<std::size_t>(std::max<std::int64_t>(step > 0 ? stop - start : start - stop, 0)));
    std::vector<ScriptValue> part;
    std::string text;
    for (std::int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
        if (items) part.push_back((*items)[static_cast<std::size_t>(i)]);
        else text += stringOf(in[0])[static_cast<std::size_t>(i)];
        if (step > size || step < -size) break;
    }
    out = isText         ? ScriptValue(Var(std::move(text)))
          : in[0].list() ? makeList(std::move(part))
                         : makeTuple(std::move(part));
    return true;
}

bool copyList(Arguments& in, ScriptValue& out) {
    if (in.size() != 1) return false;
    if (in[0].isString()) {
        std::vector<ScriptValue> letters;
        for (char c : stringOf(in[0])) letters.emplace_back(Var(std::string(1, c)));
        out = makeList(std::move(letters));
        return true;
    }
    if (in[0].dict()) {
        std::vector<ScriptValue> keys;
        for (const auto& [key, value] : in[0].dict()->items) keys.push_back(key);
        out = makeList(std::move(keys));
        return true;
    }
    if (!itemsOf(in[0])) return false;
    countElements(itemsOf(in[0])->size());
    out = makeList(*itemsOf(in[0]));
    return true;
}

bool dictItems(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].dict()) return false;
    std::vector<ScriptValue> items;
    for (const auto& [key, value] : in[0].dict()->items) items.push_back(makeTuple({key, value}));
    out = makeList(std::move(items));
    return true;
}

bool dictValues(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].dict()) return false;
    std::vector<ScriptValue> items;
    for (const auto& [key, value] : in[0].dict()->items) items.push_back(value);
    out = makeList(std::move(items));
    return true;
}

bool dictGet(Arguments& in, ScriptValue& out) {
    if (in.size() < 2 || !in[0].dict()) return false;
    const ScriptValue* found = entryOf(*in[0].dict(), in[1]);
    out = found ? ScriptValue(*found) : in.size() > 2 ? in[2] : ScriptValue();
    return true;
}

bool reverse(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].list()) return false;
    std::ranges::reverse(in[0].list()->items);
    out = in[0];
    return true;
}

/// Numbers, strings and tuples of them; anything else has no order.
bool before(const ScriptValue& a, const ScriptValue& b) {
    checkNesting();
    if (a.isNumber() && b.isNumber()) return isInt(a) && isInt(b) ? intOf(a) < intOf(b) : numberOf(a) < numberOf(b);
    if (a.isString() && b.isString()) return stringOf(a) < stringOf(b);
    if (itemsOf(a) && itemsOf(b)) return std::ranges::lexicographical_compare(*itemsOf(a), *itemsOf(b), before);
    fail(TraceErrorKind::Type, typeName(a) + " and " + typeName(b) + " have no order");
}

bool sortItems(std::vector<ScriptValue>& items, const Arguments& in) {
    const bool reversed = in.size() > 1 && toBool(in[1]);
    if (std::ranges::any_of(items, hasTensorOrProxy)) return false;
    std::ranges::stable_sort(items, [reversed](const ScriptValue& a, const ScriptValue& b) {
        return reversed ? before(b, a) : before(a, b);
    });
    return true;
}

bool sortList(Arguments& in, ScriptValue& out) {
    if (in.empty() || in.size() > 2 || !in[0].list() || !sortItems(in[0].list()->items, in)) return false;
    out = ScriptValue();
    return true;
}

bool sorted(Arguments& in, ScriptValue& out) {
    if (in.empty() || in.size() > 2 || !itemsOf(in[0])) return false;
    std::vector<ScriptValue> items = *itemsOf(in[0]);
    if (!sortItems(items, in)) return false;
    out = makeList(std::move(items));
    return true;
}

std::vector<ScriptValue>::iterator placeOf(std::vector<ScriptValue>& items, const ScriptValue& value) {
    return std::ranges::find_if(items, [&](const ScriptValue& item) { return equalValues(item, value); });
}

bool removeItem(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !in[0].list() || hasTensorOrProxy(in[1])) return false;
    const auto at = placeOf(in[0].list()->items, in[1]);
    if (at == in[0].list()->items.end()) fail(TraceErrorKind::Value, "list.remove(x): x not in list");
    in[0].list()->items.erase(at);
    out = ScriptValue();
    return true;
}

bool indexOf(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !itemsOf(in[0]) || hasTensorOrProxy(in[1])) return false;
    const auto at = placeOf(*itemsOf(in[0]), in[1]);
    if (at == itemsOf(in[0])->end()) fail(TraceErrorKind::Value, "'" + textOf(in[1]) + "' is not in list");
    out = Var(static_cast<std::int64_t>(at - itemsOf(in[0])->begin()));
    return true;
}

bool countOf(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !itemsOf(in[0]) || hasTensorOrProxy(in[1])) return false;
    out = Var(static_cast<std::int64_t>(
        std::ranges::count_if(*itemsOf(in[0]), [&](const ScriptValue& item) { return equalValues(item, in[1]); })));
    return true;
}

bool clear(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !(in[0].list() || in[0].dict())) return false;
    if (in[0].list()) in[0].list()->items.clear();
    else in[0].dict()->items.clear();
    out = ScriptValue();
    return true;
}

bool eraseItem(Arguments& in, ScriptValue& out) {
    if (in.size() != 2) return false;
    if (ListValue* list = in[0].list()) {
        list->items.erase(list->items.begin() +
                          static_cast<std::ptrdiff_t>(checkedIndex(intOf(in[1]), list->items.size())));
    } else if (DictValue* dict = in[0].dict()) {
        const auto at =
            std::ranges::find_if(dict->items, [&](const auto& item) { return equalValues(item.first, in[1]); });
        if (at == dict->items.end()) fail(TraceErrorKind::Key, textOf(in[1], true));
        dict->items.erase(at);
    } else {
        return false;
    }
    out = ScriptValue();
    return true;
}

/// pop(key) and pop(key, otherwise) of a dict.
bool popAny(Arguments& in, ScriptValue& out) {
    if (in.empty() || !in[0].dict()) return pop(in, out);
    if (in.size() < 2 || in.size() > 3) return false;
    auto& items = in[0].dict()->items;
    const auto at = std::ranges::find_if(items, [&](const auto& item) { return equalValues(item.first, in[1]); });
    if (at == items.end() && in.size() < 3) fail(TraceErrorKind::Key, textOf(in[1], true));
    if (at == items.end()) {
        out = ScriptValue(in[2]);
        return true;
    }
    out = ScriptValue(at->second);
    items.erase(at);
    return true;
}

bool popLast(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].dict()) return false;
    auto& items = in[0].dict()->items;
    if (items.empty()) fail(TraceErrorKind::Key, "popitem(): dictionary is empty");
    out = makeTuple({items.back().first, items.back().second});
    items.pop_back();
    return true;
}

bool setDefault(Arguments& in, ScriptValue& out) {
    if (in.size() != 3 || !in[0].dict()) return false;
    if (const ScriptValue* found = entryOf(*in[0].dict(), in[1])) {
        out = ScriptValue(*found);
        return true;
    }
    in[0].dict()->items.emplace_back(in[1], in[2]);
    out = in[2];
    return true;
}

bool update(Arguments& in, ScriptValue& out) {
    if (in.size() != 2 || !in[0].dict() || !in[1].dict()) return false;
    const auto more = in[1].dict()->items;
    for (const auto& [key, value] : more) setEntry(*in[0].dict(), key, value);
    out = ScriptValue();
    return true;
}

/// dict(), dict(other), dict([(key, value), …])
bool makeDict(Arguments& in, ScriptValue& out) {
    auto made = std::make_shared<DictValue>();
    if (in.size() > 1) return false;
    if (in.size() == 1 && in[0].dict()) {
        made->items = in[0].dict()->items;
    } else if (in.size() == 1) {
        if (!itemsOf(in[0])) return false;
        for (const ScriptValue& item : *itemsOf(in[0])) {
            const std::vector<ScriptValue>* pair = itemsOf(item);
            if (!pair || pair->size() != 2) return false;
            setEntry(*made, pair->front(), pair->back());
        }
    }
    out = std::move(made);
    return true;
}

/// A dict's copy is a dict.
bool copyAny(Arguments& in, ScriptValue& out) {
    return in.size() == 1 && in[0].dict() ? makeDict(in, out) : copyList(in, out);
}

/// sum() of a list of numbers.
bool sum(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].list() ||
        !std::ranges::all_of(in[0].list()->items, [](const ScriptValue& v) { return v.isNumber(); }))
        return false;
    std::uint64_t whole = 0;
    double real = 0;
    bool allInts = true;
    for (const ScriptValue& item : in[0].list()->items) {
        allInts = allInts && isInt(item);
        if (isInt(item)) whole += static_cast<std::uint64_t>(intOf(item));
        real += numberOf(item);
    }
    out = allInts ? Var(static_cast<std::int64_t>(whole)) : Var(real);
    return true;
}

bool rangeList(Arguments& in, ScriptValue& out) {
    if (in.size() != 1 || !in[0].isNumber() || !isInt(in[0])) return false;
    if (intOf(in[0]) > static_cast<std::int64_t>(kMaxElements))
        fail(TraceErrorKind::Runtime, "a list exceeds the size limit");
    std::vector<ScriptValue> items;
    for (std::int64_t i = 0; i < intOf(in[0]); ++i) items.emplace_back(Var(i));
    out = makeList(std::move(items));
    return true;
}

}  // namespace

const BuiltinTable& containerBuiltins() {
    // clang-format off
    static const BuiltinTable builtins{
        {"__getitem__", getItem}, {"_set_item", setItem}, {"__contains__", contains}, {"append", append}, {"insert", insert}, {"pop", popAny}, {"extend", extend},
        {"add_", [](Arguments& in, ScriptValue& out) { return extend(in, out); }},
        {"slice", slice}, {"list", copyList}, {"copy", copyAny}, {"keys", copyList}, {"items", dictItems}, {"values", dictValues}, {"get", dictGet}, {"reverse", reverse},
        {"sort", sortList}, {"sorted", sorted}, {"remove", removeItem}, {"index", indexOf}, {"count", countOf}, {"clear", clear}, {"Delete", eraseItem}, {"popitem", popLast},
        {"setdefault", setDefault}, {"update", update}, {"dict", makeDict}, {"sum", sum}, {"prim.rangelist", rangeList},
    };
    // clang-format on
    return builtins;
}

}  // namespace sonde::io::script

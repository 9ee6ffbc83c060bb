#include "core/io/torchscript/script_value.h"

#include <algorithm>

#include "core/base/stack_room.h"
#include "core/io/torchscript/part_count.h"
#include "core/io/torchscript/run_state.h"

namespace sonde::io::script {

std::uint64_t nextSerial() { return ++runState().serial; }

void checkNesting() {
    if (base::stackIsLow()) throw trace::TraceError(trace::TraceErrorKind::Depth, "a value nests too deeply");
}

namespace {

/// Levels of containers that let go of each other while they are let go of.
constexpr int kMaxLetGo = 100;

void keepForLater(ScriptValue& value, std::vector<ScriptValue>& later) {
    if (!value.plain() && !value.cell() && !value.as<GlobalValue>()) later.push_back(std::move(value));
}
void keepForLater(std::pair<ScriptValue, ScriptValue>& entry, std::vector<ScriptValue>& later) {
    keepForLater(entry.first, later);
    keepForLater(entry.second, later);
}
void keepForLater(std::pair<const std::string, ScriptValue>& entry, std::vector<ScriptValue>& later) {
    keepForLater(entry.second, later);
}

}  // namespace

template <typename Items>
Parts<Items>::~Parts() {
    if (this->empty()) return;
    RunState& run = runState();
    if (run.letGo >= kMaxLetGo) {
        for (auto& part : *this) keepForLater(part, *run.letGoLater);
        return;
    }
    std::vector<ScriptValue> later;
    if (run.letGo == 0) run.letGoLater = &later;
    ++run.letGo;
    this->clear();
    while (!later.empty()) {
        const ScriptValue next = std::move(later.back());
        later.pop_back();
    }
    --run.letGo;
}

template class Parts<PartList>;
template class Parts<PartPairs>;
template class Parts<PartsByName>;

ScriptValue makeList(std::vector<ScriptValue> items) {
    return std::make_shared<ListValue>(ListValue{.items = std::move(items)});
}

ScriptValue makeTuple(std::vector<ScriptValue> items, const ClassDef* type) {
    return std::make_shared<TupleValue>(TupleValue{.items = std::move(items), .type = type});
}

ScriptValue makeCell(Var tensor) {
    auto cell = std::make_shared<TensorCell>();
    cell->var = std::move(tensor);
    return cell;
}

namespace {

ScriptValue withoutNodes(const ScriptValue& value, PartCount& parts) {
    const PartCount::Level level(parts);
    std::vector<ScriptValue> items;
    if (const TupleValue* tuple = value.tuple()) {
        for (const ScriptValue& item : tuple->items) items.push_back(withoutNodes(item, parts));
        return makeTuple(std::move(items), tuple->type);
    }
    if (value.list() && !value.isSymbolicList()) {
        for (const ScriptValue& item : value.list()->items) items.push_back(withoutNodes(item, parts));
        return makeList(std::move(items));
    }
    if (const DictValue* dict = value.dict()) {
        auto copy = std::make_shared<DictValue>();
        for (const auto& [key, item] : dict->items) copy->items.emplace_back(key, withoutNodes(item, parts));
        return copy;
    }
    return value;
}

}  // namespace

ScriptValue* entryOf(DictValue& dict, const ScriptValue& key) {
    const auto found =
        std::ranges::find_if(dict.items, [&](const auto& entry) { return equalValues(entry.first, key); });
    return found == dict.items.end() ? nullptr : &found->second;
}

void setEntry(DictValue& dict, ScriptValue key, ScriptValue value) {
    if (ScriptValue* const found = entryOf(dict, key)) *found = std::move(value);
    else dict.items.emplace_back(std::move(key), std::move(value));
}

ScriptValue withoutNodes(const ScriptValue& value) {
    PartCount parts;
    return withoutNodes(value, parts);
}

}  // namespace sonde::io::script

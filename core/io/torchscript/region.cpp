#include "core/io/torchscript/region.h"

#include <algorithm>
#include <utility>

#include "core/trace/error.h"

namespace sonde::io::script {

namespace {

thread_local Region* tRegion = nullptr;

[[noreturn]] void refuse(const std::string& what) {
    throw trace::TraceError(trace::TraceErrorKind::ControlFlow, what + " is changed in place inside of control flow that depends on the data");
}

template <typename T, typename Member>
bool holds(const std::vector<T>& list, Member member, const void* object) {
    return std::ranges::any_of(list, [&](const T& entry) { return (entry.*member).get() == object; });
}

}  // namespace

Region::Region(Kind kind) : m_kind(kind), m_start(nextSerial()), m_outer(tRegion) { tRegion = this; }
Region::~Region() {
    takeBack();  // nothing is left of it but after an error
    tRegion = m_outer;
}
Region* Region::current() { return tRegion; }

void Region::noteChange(TensorCell& cell) {
    if (!tRegion || !tRegion->isOlder(cell.serial)) return;
    if (tRegion->m_kind == Kind::Loop) refuse("a tensor");
    if (holds(tRegion->m_before.cells, &Cell::cell, &cell)) return;
    tRegion->m_before.cells.push_back({cell.shared_from_this(), cell.var, cell.version, cell.baseVersion, cell.stale, cell.chain});
}

void Region::noteChange(const std::shared_ptr<ListValue>& list) {
    list->node = {};
    if (!tRegion || !tRegion->isOlder(list->serial)) return;
    if (std::ranges::find(tRegion->m_allowed, list.get()) != tRegion->m_allowed.end()) return;
    if (tRegion->m_kind == Kind::Loop) refuse("a list");
    if (holds(tRegion->m_before.lists, &List::list, list.get())) return;
    tRegion->m_before.lists.push_back({list, list->items, list->symbolic, list->ofTensors});
}

void Region::noteChange(const std::shared_ptr<DictValue>& dict) {
    dict->node = {};
    if (!tRegion || !tRegion->isOlder(dict->serial)) return;
    if (tRegion->m_kind == Kind::Loop) refuse("a dict");
    if (!holds(tRegion->m_before.dicts, &Dict::dict, dict.get())) tRegion->m_before.dicts.push_back({dict, dict->items});
}

void Region::noteChange(const InstanceValue& instance) {
    if (tRegion && tRegion->isOlder(instance.serial)) refuse("an object of class " + instance.typeName);
}

Region::Changes Region::takeBack() {
    for (Cell& entry : m_before.cells) {
        TensorCell& cell = *entry.cell;
        std::swap(cell.var, entry.var);
        std::swap(cell.version, entry.version);
        std::swap(cell.baseVersion, entry.baseVersion);
        std::swap(cell.stale, entry.stale);
        std::swap(cell.chain, entry.chain);
    }
    for (List& entry : m_before.lists) {
        std::swap(entry.list->items, entry.items);
        std::swap(entry.list->symbolic, entry.symbolic);
        std::swap(entry.list->ofTensors, entry.ofTensors);
    }
    for (Dict& entry : m_before.dicts) std::swap(entry.dict->items, entry.items);
    return std::exchange(m_before, {});
}

}  // namespace sonde::io::script

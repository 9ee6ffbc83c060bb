#include "core/io/torchscript/region.h"

#include <algorithm>
#include <utility>

#include "core/io/torchscript/run_state.h"

namespace sonde::io::script {

namespace {

template <typename T, typename Member>
auto find(std::vector<T>& list, Member member, const void* object) {
    return std::ranges::find_if(list, [&](const T& entry) { return (entry.*member).get() == object; });
}

}  // namespace

Region::Region() : m_start(nextSerial()), m_outer(std::exchange(runState().region, this)) {}
Region::~Region() {
    takeBack();  // nothing is left of it but after an error
    runState().region = m_outer;
}
Region* Region::current() { return runState().region; }

void Region::noteChange(TensorCell& cell, bool derived) {
    Region* const region = current();
    if (!region || !region->isOlder(cell.serial)) return;
    std::vector<Cell>& known = region->m_before.cells;
    auto entry = find(known, &Cell::cell, &cell);
    if (entry == known.end()) {
        known.push_back({cell.shared_from_this(), cell.var, cell.pending, cell.version, cell.baseVersion, cell.stale,
                         false, cell.chain});
        entry = std::prev(known.end());
    }
    entry->isWritten = entry->isWritten || !derived;
}

void Region::noteChange(const std::shared_ptr<ListValue>& list) {
    list->node = {};
    Region* const region = current();
    if (!region || !region->isOlder(list->serial)) return;
    std::vector<List>& known = region->m_before.lists;
    if (find(known, &List::list, list.get()) == known.end())
        known.push_back({list, list->items, list->symbolic, list->ofTensors});
}

void Region::noteChange(const std::shared_ptr<DictValue>& dict) {
    dict->node = {};
    Region* const region = current();
    if (!region || !region->isOlder(dict->serial)) return;
    std::vector<Dict>& known = region->m_before.dicts;
    if (find(known, &Dict::dict, dict.get()) == known.end()) known.push_back({dict, dict->items});
}

void Region::noteChange(const std::shared_ptr<InstanceValue>& instance) {
    Region* const region = current();
    if (!region || !region->isOlder(instance->serial)) return;
    std::vector<Instance>& known = region->m_before.instances;
    if (find(known, &Instance::instance, instance.get()) == known.end())
        known.push_back({instance, instance->attributes});
}

Region::Changes Region::takeBack() {
    for (Cell& entry : m_before.cells) {
        TensorCell& cell = *entry.cell;
        std::swap(cell.var, entry.var);
        std::swap(cell.pending, entry.pending);
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
    for (Instance& entry : m_before.instances) std::swap(entry.instance->attributes, entry.attributes);
    return std::exchange(m_before, {});
}

}  // namespace sonde::io::script

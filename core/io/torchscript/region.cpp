#include "core/io/torchscript/region.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/io/torchscript/run_state.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

namespace {

template <typename T, typename Member>
auto find(std::vector<T>& list, Member member, const void* object) {
    return std::ranges::find_if(list, [&](const T& entry) { return (entry.*member).get() == object; });
}

const graph::InternalGraph* recordedGraph() {
    const trace::Tracer* tracer = trace::Tracer::active();
    return tracer ? tracer->recording().recordedGraph() : nullptr;
}

/// What modules hold is older than everything else.
void noteObject(std::uint64_t serial) {
    if (serial == 0 && runState().changedObjects) *runState().changedObjects = true;
}

}  // namespace

Region::Region(Kind kind)
    : m_kind(kind), m_start(nextSerial()), m_graph(recordedGraph()), m_firstNode(m_graph ? m_graph->nodeCount() : 0),
      m_outer(std::exchange(runState().region, this)) {}
Region::~Region() {
    takeBack();  // nothing is left of it but after an error
    runState().region = m_outer;
}
Region* Region::current() { return runState().region; }

std::uint64_t Region::serialOf(const Var& node) {
    const graph::InternalGraph* const graph = node.tracer().recording().recordedGraph();
    std::optional<std::uint64_t> serial;
    for (const Region* region = current(); region; region = region->m_outer) {
        if (region->m_graph == graph && node.node().index() < region->m_firstNode) serial = region->m_start - 1;
    }
    return serial ? *serial : nextSerial();
}

bool Region::isInsideBody() {
    for (const Region* region = current(); region; region = region->m_outer) {
        if (region->m_kind == Kind::Body) return true;
    }
    return false;
}

void Region::noteChange(TensorCell& cell, bool derived) {
    Region* const region = current();
    if (!region || !region->isOlder(cell.serial)) return;
    std::vector<Cell>& known = region->m_before.cells;
    auto entry = find(known, &Cell::cell, &cell);
    if (entry == known.end()) {
        known.push_back({cell.shared_from_this(), cell, false});
        entry = std::prev(known.end());
    }
    entry->isWritten = entry->isWritten || !derived;
}

void Region::noteChange(const std::shared_ptr<ListValue>& list) {
    list->node = {};
    noteObject(list->serial);
    Region* const region = current();
    if (!region || !region->isOlder(list->serial)) return;
    std::vector<List>& known = region->m_before.lists;
    if (find(known, &List::list, list.get()) == known.end())
        known.push_back({list, list->items, list->symbolic, list->ofTensors, list->memory});
}

void Region::noteChange(const std::shared_ptr<DictValue>& dict) {
    dict->node = {};
    noteObject(dict->serial);
    Region* const region = current();
    if (!region || !region->isOlder(dict->serial)) return;
    std::vector<Dict>& known = region->m_before.dicts;
    if (find(known, &Dict::dict, dict.get()) == known.end()) known.push_back({dict, dict->items});
}

void Region::noteChange(const std::shared_ptr<InstanceValue>& instance) {
    noteObject(instance->serial);
    Region* const region = current();
    if (!region || !region->isOlder(instance->serial)) return;
    std::vector<Instance>& known = region->m_before.instances;
    if (find(known, &Instance::instance, instance.get()) == known.end())
        known.push_back({instance, instance->attributes});
}

void Region::swap(Changes& changes) {
    for (Cell& entry : changes.cells) {
        std::swap(static_cast<TensorState&>(*entry.cell), entry.state);
    }
    for (List& entry : changes.lists) {
        entry.list->items.swap(entry.items);
        std::swap(entry.list->symbolic, entry.symbolic);
        std::swap(entry.list->ofTensors, entry.ofTensors);
        std::swap(entry.list->memory, entry.memory);
    }
    for (Dict& entry : changes.dicts) entry.dict->items.swap(entry.items);
    for (Instance& entry : changes.instances) entry.instance->attributes.swap(entry.attributes);
}

Region::Changes Region::takeBack() {
    swap(m_before);
    return std::exchange(m_before, {});
}

void Region::commit() {
    Changes changes = std::exchange(m_before, {});
    if (m_outer) m_outer->adopt(std::move(changes));
}

/// The states from before are those from before this region as well, where it has none of its own.
void Region::adopt(Changes changes) {
    for (Cell& entry : changes.cells) {
        if (!isOlder(entry.cell->serial)) continue;
        const auto known = find(m_before.cells, &Cell::cell, entry.cell.get());
        if (known != m_before.cells.end()) known->isWritten = known->isWritten || entry.isWritten;
        else m_before.cells.push_back(std::move(entry));
    }
    const auto adoptAll = [this](auto& known, auto& entries, auto member) {
        for (auto& entry : entries) {
            const auto& object = entry.*member;
            if (isOlder(object->serial) && find(known, member, object.get()) == known.end())
                known.push_back(std::move(entry));
        }
    };
    adoptAll(m_before.lists, changes.lists, &List::list);
    adoptAll(m_before.dicts, changes.dicts, &Dict::dict);
    adoptAll(m_before.instances, changes.instances, &Instance::instance);
}

}  // namespace sonde::io::script

// From the rows of all families to one table for each domain.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include "core/operators/counts.h"
#include "core/operators/names.h"
#include "core/operators/tables.h"

namespace sonde::operators {

namespace {

/// Names are short and differ at their ends. Every consumer asks for traits by name, several times for each operation.
struct NameHash {
    std::size_t operator()(std::string_view name) const {
        std::uint64_t hash = name.size();
        for (const char character : name) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
        return hash;
    }
};

class Table {
  public:
    explicit Table(std::initializer_list<std::span<const Row>> families) {
        for (const std::span<const Row> rows : families) {
            for (const Row& row : rows) {
                std::string_view rest = row.names;
                while (!rest.empty()) {
                    const std::string_view name = rest.substr(0, rest.find(' '));
                    m_rows.emplace(name, Entry{row.traits, row.cost, row.countsElements, row.special});
                    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
                }
            }
        }
    }

    struct Entry {
        Traits traits;
        CostRule cost = CostRule::ByClass;
        bool countsElements = false;
        Special special = Special::None;
    };

    const Entry* find(std::string_view name) const {
        const auto found = m_rows.find(name);
        return found == m_rows.end() ? nullptr : &found->second;
    }

    std::vector<std::string_view> namesWith(Trait trait) const {
        std::vector<std::string_view> names;
        for (const auto& [name, row] : m_rows) {
            if (row.traits.is(trait)) names.push_back(name);
        }
        std::ranges::sort(names);
        return names;
    }

    /// Other names of ATen, and names of in-place forms. What a row says itself stands.
    void addDerivedNames() {
        for (const Alias& alias : aliases()) {
            const Entry* original = find(alias.original);
            if (!original) continue;
            Entry made = *original;
            Traits& traits = made.traits;
            traits = alias.hasInPlaceForm ? traits.with(Trait::HasInPlaceForm) : traits.without(Trait::HasInPlaceForm);
            if (alias.copies) {
                traits.memory = {};
                traits.form = ViewForm::None;
                traits = traits.without(Trait::Overlaps);
                made.special = Special::None;
                if (traits.opClass == OpClass::Identity) traits.opClass = OpClass::Clone;
            }
            m_rows.emplace(alias.name, made);
        }
        for (const Alias& alias : exactAliases()) {
            const Entry* original = isInPlaceName(alias.name) ? nullptr : find(withoutOverload(alias.original));
            if (!original) continue;
            Entry made = *original;
            made.traits = made.traits.without(Trait::HasInPlaceForm);
            m_rows.emplace(alias.name, made);
        }
        std::deque<std::pair<std::string_view, Entry>> writing;
        for (const auto& [name, row] : m_rows) {
            if (!row.traits.is(Trait::HasInPlaceForm)) continue;
            Entry made = row;
            made.special =
                row.special & (Special::ReadsWholeStorage | Special::RefusesAnyOverlap | Special::ReadsNumberFirst);
            made.traits = row.traits.with(Trait::InPlace).without(Trait::HasInPlaceForm);
            const bool reforms = row.traits.memory.sharing == Sharing::View;
            made.traits.memory = {Sharing::Written, false, !reforms, reforms};
            if (!reforms) made.traits.form = ViewForm::None;
            writing.emplace_back(m_names.emplace_back(inPlaceName(name)), made);
        }
        for (const auto& [name, row] : writing) m_rows.emplace(name, row);
    }

  private:
    std::deque<std::string> m_names;  // the table holds views of them
    std::unordered_map<std::string_view, Entry, NameHash> m_rows;
};

const Table& atenTable() {
    static const Table table = [] {
        Table made{elementwiseRows(), layerRows(), viewRows(), creationRows(), dataRows()};
        made.addDerivedNames();
        return made;
    }();
    return table;
}

const Table& onnxTable() {
    static const Table table{onnxRows()};
    return table;
}

const Table* tableOf(std::string_view domain) {
    if (domain.empty() || domain == "ai.onnx") return &onnxTable();
    if (domain == "aten") return &atenTable();
    static const Table contrib{contribRows()}, preview{previewRows()}, training{previewTrainingRows()},
        python{pythonRows()}, vision{visionRows()}, own{ownRows()};
    if (domain == "prim") return &python;
    if (domain == "com.microsoft") return &contrib;
    if (domain == "torchvision") return &vision;
    if (domain == "sonde") return &own;
    if (domain == "ai.onnx.preview") return &preview;
    if (domain == "ai.onnx.preview.training") return &training;
    return nullptr;
}

constexpr Traits kUnknown{};
constexpr Traits kUnknownWrite = Traits{.memory = {Sharing::Written, false, true}}.with(Trait::InPlace);

/// The row of an operator as a graph names it; null if there is none.
const Table::Entry* rowOf(std::string_view domain, std::string_view operatorName) {
    const Table* table = tableOf(domain);
    const bool hasOverloads = !domain.empty() && (domain == "aten" || domain == "prim");
    return table ? table->find(hasOverloads ? withoutOverload(operatorName) : operatorName) : nullptr;
}

}  // namespace

const Traits& traitsOf(std::string_view domain, std::string_view operatorName) {
    if (const Table::Entry* row = rowOf(domain, operatorName)) return row->traits;
    return domain == "aten" && isInPlaceName(withoutOverload(operatorName)) ? kUnknownWrite : kUnknown;
}

CostRule costRuleOf(std::string_view domain, std::string_view operatorName) {
    const Table::Entry* row = rowOf(domain, operatorName);
    return row ? row->cost : CostRule::ByClass;
}

bool isSpecial(std::string_view domain, std::string_view operatorName, Special what) {
    const Table::Entry* row = rowOf(domain, operatorName);
    return row && (row->special & what) != Special::None;
}

bool countsElements(std::string_view domain, std::string_view operatorName) {
    const Table::Entry* row = rowOf(domain, operatorName);
    return row && row->countsElements;
}

std::vector<std::string_view> operatorsWithInPlaceForm() { return atenTable().namesWith(Trait::HasInPlaceForm); }

}  // namespace sonde::operators

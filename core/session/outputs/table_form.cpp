// Elements as text, whatever they are.

#include <algorithm>

#include "core/base/count_text.h"
#include "core/session/outputs/forms.h"

namespace sonde::session::outputs {

namespace {

constexpr std::size_t kMaxCellText = 200;

int suitsTable(const Facts&) { return kAlways; }

std::string limitedText(std::string text) {
    if (text.size() > kMaxCellText)
        text = std::string(base::countText(static_cast<std::int64_t>(text.size()))) + " bytes";
    return text;
}

/// Items of a list, entries of a dict, or the value itself.
Table tableOfValue(const tensor::Value& value) {
    Table table;
    table.columns = {"", "type", "value"};
    table.columnCount = 3;
    const auto add = [&table](std::string key, const tensor::Value& item) {
        ++table.rowCount;
        if (table.rowCount > Table::kMaxRows) return;
        table.rows.push_back({limitedText(std::move(key)), limitedText(item.typeText()), item.text(kMaxCellText)});
    };
    if (value.kind() == tensor::ValueKind::Dict) {
        for (const auto& [key, item] : value.dictItems()) add(key.text(), item);
    } else if (value.isListLike()) {
        for (std::size_t i = 0; i < value.items().size(); ++i) add(std::to_string(i), value.items()[i]);
    } else {
        add("", value);
    }
    return table;
}

base::Result<Made> makeTable(const FormRequest& request) {
    const Facts& facts = request.facts;
    if (!facts.tensor.defined()) return Made{tableOfValue(facts.value)};
    const tensor::Tensor& tensor = facts.tensor;
    Table table;
    // [R,C]: dimensions before the last are rows, one after the other; one number a row of a vector.
    const bool isVector = tensor.rank() < 2;
    table.columnCount = isVector ? 1 : facts.dim(-1);
    table.rowCount = table.columnCount > 0 ? tensor.numel() / table.columnCount : 0;
    const std::int64_t columns = std::min(table.columnCount, Table::kMaxColumns);
    const std::int64_t rows = std::min(table.rowCount, Table::kMaxRows);
    table.columns.emplace_back("index");
    for (std::int64_t c = 0; c < columns; ++c) table.columns.push_back(isVector ? "value" : std::to_string(c));
    for (std::int64_t r = 0; r < rows; ++r) {
        if (request.stop.stop_requested()) return base::cancelled();
        std::string index;
        std::int64_t rest = r;
        const std::size_t rank = isVector ? tensor.rank() : tensor.rank() - 1;
        for (std::size_t axis = rank; axis-- > 0;) {
            index = std::to_string(rest % tensor.dim(axis)) + (index.empty() ? "" : ", ") + index;
            rest /= tensor.dim(axis);
        }
        std::vector<std::string> cells{"[" + index + "]"};
        for (std::int64_t c = 0; c < columns; ++c)
            cells.push_back(limitedText(tensor.elementText(r * table.columnCount + c)));
        table.rows.push_back(std::move(cells));
    }
    Made made;
    if (std::string note = cutNote(table, rows, columns); !note.empty()) made.notes.push_back(std::move(note));
    made.content = std::move(table);
    return made;
}

}  // namespace

std::string cutNote(const Table& table, std::int64_t rows, std::int64_t columns) {
    if (rows >= table.rowCount && columns >= table.columnCount) return {};
    return "the first " + base::countText(rows) + " of " + base::countText(table.rowCount) + " rows, " +
           base::countText(columns) + " of " + base::countText(table.columnCount) + " columns";
}

Form tableForm() {
    return {.id = "table",
            .title = "Table",
            .description = "The elements, a row for each of the last dimension",
            .suits = suitsTable,
            .make = makeTable};
}

}  // namespace sonde::session::outputs

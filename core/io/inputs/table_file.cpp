// Tables of numbers as text: comma-separated values after RFC 4180, also with semicolons or tabs between them.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/counted_text.h"
#include "core/base/trimmed.h"
#include "core/base/visible_text.h"
#include "core/io/inputs/data_files.h"
#include "core/io/inputs/decimal.h"
#include "core/tensor/exact_cast.h"

namespace sonde::io {

namespace {

using base::Result;
using base::usageError;
using tensor::Shape;
using tensor::Tensor;

constexpr std::size_t kMaxCells = std::size_t{1} << 27;

/// A cell as it is written, without its quotation marks, and where it stands.
struct Cell {
    std::string text;
    bool endsRow = false;
};

/// Goes through the cells of a text; a quoted cell may hold separators and line ends, and "" for a quotation mark.
class CellReader {
  public:
    CellReader(std::string_view text, char separator) : m_text(text), m_separator(separator) {}

    bool atEnd() const { return m_at >= m_text.size(); }
    std::size_t line() const { return m_line; }

    Result<Cell> next(const std::string& path) {
        Cell cell;
        if (m_text[m_at] == '"') SONDE_TRY(readQuoted(cell, path));
        else
            cell.text = std::string(m_text.substr(m_at, m_text.find_first_of(stops(), m_at) - m_at)),
            skip(cell.text.size());
        if (atEnd()) {
            cell.endsRow = true;
        } else if (m_text[m_at] == m_separator) {
            ++m_at;
            if (atEnd()) m_text = {}, m_at = 0, m_endsInSeparator = true;
        } else {
            endRow();
            cell.endsRow = true;
        }
        return cell;
    }
    /// The text ended behind a separator: one more cell, which is empty.
    bool endsInSeparator() const { return m_endsInSeparator; }

  private:
    std::string stops() const { return std::string{m_separator, '\n', '\r'}; }
    void skip(std::size_t count) { m_at = std::min(m_at + count, m_text.size()); }

    void endRow() {
        if (m_text[m_at] == '\r') ++m_at;
        if (!atEnd() && m_text[m_at] == '\n') ++m_at;
        ++m_line;
    }

    Result<void> readQuoted(Cell& cell, const std::string& path) {
        const std::size_t begin = m_line;
        for (++m_at;; ++m_at) {
            if (atEnd()) return usageError("a quotation mark is never closed", path + " line " + std::to_string(begin));
            if (m_text[m_at] == '\n') ++m_line;
            if (m_text[m_at] != '"') {
                cell.text += m_text[m_at];
            } else if (m_at + 1 < m_text.size() && m_text[m_at + 1] == '"') {
                cell.text += '"', ++m_at;
            } else {
                ++m_at;
                break;
            }
        }
        const bool isEnd = atEnd() || stops().find(m_text[m_at]) != std::string::npos;
        if (!isEnd)
            return usageError("something follows a closing quotation mark", path + " line " + std::to_string(m_line));
        return {};
    }

    std::string_view m_text;
    char m_separator;
    std::size_t m_at = 0;
    std::size_t m_line = 1;
    bool m_endsInSeparator = false;
};

/// The one of , ; and tab that the first line has most of.
char separatorOf(std::string_view text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    char best = ',';
    std::ptrdiff_t most = 0;
    for (const char each : {',', ';', '\t'})
        if (const std::ptrdiff_t count = std::ranges::count(line, each); count > most) most = count, best = each;
    return best;
}

std::optional<double> numberOf(std::string_view text) {
    text = base::trimmed(text, " \t");
    if (text.starts_with('+')) text.remove_prefix(1);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || end != text.data() + text.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range) return std::nullopt;
    return number;
}

/// Whether the cell is an integer that no double holds.
bool isLongInteger(const std::optional<Decimal>& exact, double nearest) {
    return exact && exact->isInteger() && std::isfinite(nearest) && *exact != decimalOf(nearest);
}

/// If int64 holds it.
std::optional<std::int64_t> int64Of(const Decimal& exact) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    const std::optional<std::uint64_t> magnitude = exact.magnitude();
    if (!magnitude || *magnitude > kMax) return std::nullopt;
    const auto value = static_cast<std::int64_t>(*magnitude);
    return exact.isNegative ? -value : value;
}

/// Of the mantissa of a float, with the bit that is not written; 0 of another dtype.
int mantissaBits(tensor::DType dtype) {
    switch (dtype) {
        case tensor::DType::Float64: return 53;
        case tensor::DType::Float32: return 24;
        case tensor::DType::Float16: return 11;
        case tensor::DType::BFloat16: return 8;
        default: return 0;
    }
}

/// Rows of equal length; the first one may be names. float64; for an input of integers int64 where a double would not
/// hold one of them.
class TableReader {
  public:
    TableReader(const DataFile& file, const InputInfo& input, std::string& note)
        : m_path(file.path), m_dtype(input.type.dtype), m_isForIntegers(tensor::isInteger(m_dtype)),
          m_bits(input.required ? mantissaBits(m_dtype) : 0), m_note(note) {
        const auto bytes = file.file->bytes();
        // Spreadsheets write a byte order mark.
        m_text = base::withoutByteOrderMark({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }

    Result<Tensor> read() {
        const char separator = separatorOf(m_text);
        CellReader cells(m_text, separator);
        std::vector<Cell> row;
        while (!cells.atEnd()) {
            const std::size_t line = cells.line();
            row.clear();
            bool isWhole = false;
            while (!isWhole && !cells.atEnd()) {
                SONDE_ASSIGN(Cell cell, cells.next(m_path));
                isWhole = cell.endsRow;
                row.push_back(std::move(cell));
            }
            if (cells.endsInSeparator()) row.emplace_back();
            SONDE_TRY(add(row, line));
        }
        if (m_values.empty()) return usageError("the table has no numbers", m_path);
        const auto columns = static_cast<std::int64_t>(m_columns);
        const Shape shape{static_cast<std::int64_t>(m_values.size()) / columns, columns};
        return m_areLong ? Tensor::of<std::int64_t>(shape, m_integers) : Tensor::of<double>(shape, m_values);
    }

  private:
    base::Error wrong(const std::string& what, std::size_t line, std::size_t column,
                      std::string hint = "a table has one number in each cell; write nan where there is none") const {
        return usageError(what, m_path + " line " + std::to_string(line) + ", column " + std::to_string(column + 1),
                          std::move(hint));
    }

    Result<void> add(const std::vector<Cell>& row, std::size_t line) {
        if (row.size() == 1 && row.front().text.find_first_not_of(" \t") == std::string::npos)
            return {};  // an empty line
        if (m_columns == 0) m_columns = row.size();
        if (row.size() != m_columns)
            return wrong("the row has " + base::countedText(static_cast<std::int64_t>(row.size()), "cell") +
                             " and the first one " + base::countText(static_cast<std::int64_t>(m_columns)),
                         line, row.size() - 1);
        const bool mayBeNames = m_values.empty() && !m_hasNames;
        if (mayBeNames && std::ranges::none_of(row, [](const Cell& cell) { return numberOf(cell.text).has_value(); })) {
            m_hasNames = true;
            m_note = "the first line is taken as names of columns";
            return {};
        }
        if (m_values.size() + row.size() > kMaxCells) return wrong("the table has too many cells", line, 0);
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::optional<double> number = numberOf(row[i].text);
            if (!number) return wrong("'" + base::visibleText(row[i].text.substr(0, 40)) + "' is no number", line, i);
            if (m_isForIntegers && !keepInteger(row[i].text, *number))
                return wrong("'" + base::visibleText(row[i].text.substr(0, 40)) + "' has more digits than int64 holds",
                             line, i);
            if (m_bits > 0 && !isHeld(row[i].text, *number))
                return wrong("'" + base::visibleText(row[i].text.substr(0, 40)) + "' is an integer, " +
                                 tensor::lossText(tensor::Loss::Precision, m_dtype),
                             line, i, "write it with a decimal point if it may be rounded");
            m_values.push_back(*number);
        }
        return {};
    }

    /// From the first long one on, as long as all are integers. False for one that neither double nor int64 holds.
    bool keepInteger(std::string_view cell, double number) {
        const bool mayBeLong = std::abs(number) >= 0x1p53;
        const auto exact = mayBeLong ? parseDecimal(base::trimmed(cell, " \t")) : std::nullopt;
        const bool isLong = isLongInteger(exact, number);
        const auto longer = isLong ? int64Of(*exact) : std::nullopt;
        if (isLong && !longer) return false;
        m_areIntegers = m_areIntegers && (isLong || isExactInteger(number));
        if (isLong && m_areIntegers && !m_areLong) m_integers.assign(m_values.begin(), m_values.end());
        m_areLong = m_areIntegers && (m_areLong || isLong);
        if (m_areLong) m_integers.push_back(longer ? *longer : static_cast<std::int64_t>(number));
        return true;
    }
    /// What is written as an integer is not to become another one; a fraction may be rounded.
    bool isHeld(std::string_view cell, double number) const {
        if (!std::isfinite(number) || std::abs(number) <= std::ldexp(1.0, m_bits - 1) ||
            cell.find_first_of(".eE") != std::string_view::npos)
            return true;
        int exponent = 0;
        const double mantissa = std::ldexp(std::frexp(number, &exponent), m_bits);
        return mantissa == std::trunc(mantissa) && !isLongInteger(parseDecimal(base::trimmed(cell, " \t")), number);
    }
    static bool isExactInteger(double number) {
        return number == std::trunc(number) && number >= -0x1p63 && number < 0x1p63;
    }

    std::string m_path;
    tensor::DType m_dtype;
    bool m_isForIntegers;
    int m_bits;  ///< of the mantissa of the input's dtype
    std::string& m_note;
    std::string_view m_text;
    std::vector<double> m_values;
    std::vector<std::int64_t> m_integers;  ///< the same, if m_areLong
    bool m_areIntegers = true;
    bool m_areLong = false;
    std::size_t m_columns = 0;
    bool m_hasNames = false;
};

/// The shape that a table takes for an input of another rank: that of the input, where the numbers fill it. None: the
/// table has the input's rank, or does not fill it. A list is one row or column: of several rows nothing tells the
/// order.
std::optional<Shape> shapeFor(const Tensor& table, const InputInfo& input) {
    if (!input.type.shape || input.type.shape->size() == 2) return std::nullopt;
    const std::int64_t count = table.numel();
    const auto& dims = *input.type.shape;
    if (dims.size() == 1)
        return std::ranges::min(table.shape()[0], table.shape()[1]) == 1 ? std::optional(Shape{count}) : std::nullopt;
    std::vector<std::int64_t> sizes;
    std::int64_t known = 1;
    std::ptrdiff_t open = 0;
    for (const tensor::Dim& dim : dims) {
        sizes.push_back(dim.known() ? dim.value : -1);
        open += dim.known() ? 0 : 1;
        if (dim.known() && (dim.value < 1 || known > count / dim.value)) return std::nullopt;
        if (dim.known()) known *= dim.value;
    }
    if (open > 1 || count % known != 0 || (open == 0 && known != count)) return std::nullopt;
    std::ranges::replace(sizes, std::int64_t{-1}, count / known);
    return Shape(sizes);
}

Result<Tensor> inShapeOf(Tensor table, const InputInfo& input, std::string& note) {
    const std::optional<Shape> shape = shapeFor(table, input);
    if (!shape) return table;
    if (shape->rank() < 2) return table.reshaped(*shape);
    note += (note.empty() ? "" : "; ") + std::string("the table of ") + std::to_string(table.shape()[0]) + " x " +
            std::to_string(table.shape()[1]) + " is taken as " + shape->text() + ", row after row";
    return table.reshaped(*shape);
}

Result<Tensor> readTable(const DataFile& file, const InputInfo& input, const ImageOptions&, std::string& note) {
    SONDE_ASSIGN(Tensor table, TableReader(file, input, note).read());
    return inShapeOf(std::move(table), input, note);
}

}  // namespace

DataFileKind tableKind() {
    DataFileKind kind;
    kind.name = "table";
    kind.formats = ".csv, .tsv";
    kind.suffixes = {".csv", ".tsv"};
    kind.isBegunBy = nullptr;
    kind.read = readTable;
    return kind;
}

}  // namespace sonde::io

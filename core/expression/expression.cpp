#include "core/expression/expression.h"

#include "core/base/number_text.h"
#include "core/expression/lexer.h"

namespace sonde::expression {

Expression::Expression(std::string text, std::shared_ptr<const Term> root, std::vector<std::string> names)
    : m_text(std::move(text)), m_root(std::move(root)), m_names(std::move(names)) {}

std::optional<std::size_t> errorColumn(const base::Error& error) {
    constexpr std::string_view kColumn = "column ";
    if (error.kind != base::ErrorKind::Usage || !error.where.starts_with(kColumn)) return std::nullopt;
    const std::string_view rest = std::string_view(error.where).substr(kColumn.size());
    const auto column = base::parseNumber<std::uint64_t>(rest.substr(0, rest.find(' ')));
    return column ? std::optional<std::size_t>(*column) : std::nullopt;
}

std::string quoted(std::string_view name) {
    if (isIdentifier(name) && !isReserved(name)) return std::string(name);
    std::string text = "`";
    for (const char c : name) {
        if (c == '`' || c == '\\') text += '\\';
        text += c;
    }
    return text + "`";
}

}  // namespace sonde::expression

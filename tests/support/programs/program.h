#pragma once

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

/// Programs of views, writes, branches and reads as data: run by an interpreter on plain arrays, and by a module of
/// Sonde.
namespace sonde::test::programs {

/// One part of an index: `2`, `1:3:2` or `...`.
struct IndexPart {
    enum class Kind : std::uint8_t { Number, Slice, Ellipsis };
    Kind kind = Kind::Slice;
    std::int64_t start = 0, stop = 0, step = 1;  ///< Number: start
    std::string text() const {
        if (kind == Kind::Number) return std::to_string(start);
        if (kind == Kind::Ellipsis) return "...";
        return std::to_string(start) + ':' + std::to_string(stop) + (step == 1 ? "" : ':' + std::to_string(step));
    }
};

struct Statement;

/// A function of tensors: a branch, the forward of a submodule, or the inside of a loop (which has no parameters).
struct Function {
    std::vector<std::string> parameters;
    std::vector<Statement> statements;
    std::string result;  ///< a variable; empty: none
};

/// `result = operation(operands, integers, numbers)`. What an operation takes is written where it is run.
struct Statement {
    std::string result;                 ///< empty: for its effect alone
    std::string operation;              ///< "narrow", "add_", "setitem", "if", "cond", "pick", "call", "for"
    std::vector<std::string> operands;  ///< variables
    std::vector<std::int64_t> integers;
    std::optional<double> number;
    std::vector<IndexPart> index;
    std::vector<Function> functions;  ///< if, cond, pick: when true, when false; call, for: the inside
};

struct Program {
    std::uint64_t seed = 0;
    std::vector<std::vector<std::int64_t>> inputs;  ///< shapes of in0, in1 …
    std::vector<Statement> statements;
    std::vector<std::string> results;
    bool raises = false;  ///< PyTorch raises at a statement
};

namespace detail {

inline void print(std::ostringstream& out, const std::vector<Statement>& statements, const std::string& margin);

inline void print(std::ostringstream& out, const Function& function, const std::string& title,
                  const std::string& margin) {
    out << margin << title << '(';
    for (std::size_t i = 0; i < function.parameters.size(); ++i) out << (i ? ", " : "") << function.parameters[i];
    out << "):\n";
    print(out, function.statements, margin + "    ");
    if (!function.result.empty()) out << margin << "    return " << function.result << '\n';
}

inline void print(std::ostringstream& out, const std::vector<Statement>& statements, const std::string& margin) {
    for (const Statement& each : statements) {
        out << margin << (each.result.empty() ? "" : each.result + " = ") << each.operation << '(';
        const char* separator = "";
        const auto item = [&](const auto& value) {
            out << separator << value;
            separator = ", ";
        };
        for (const std::string& operand : each.operands) item(operand);
        if (!each.index.empty()) {
            std::string parts;
            for (const IndexPart& part : each.index) parts += (parts.empty() ? "" : ", ") + part.text();
            item('[' + parts + ']');
        }
        for (std::int64_t integer : each.integers) item(integer);
        if (each.number) item(*each.number);
        out << ")\n";
        const bool isBranch = each.functions.size() == 2;
        for (std::size_t i = 0; i < each.functions.size(); ++i)
            print(out, each.functions[i], isBranch ? (i == 0 ? "when true" : "when false") : "inside", margin + "  ");
    }
}

}  // namespace detail

inline std::string text(const Program& program) {
    std::ostringstream out;
    out << "seed " << program.seed << '\n';
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
        out << "in" << i << ": float32[";
        for (std::size_t d = 0; d < program.inputs[i].size(); ++d) out << (d ? "," : "") << program.inputs[i][d];
        out << "]\n";
    }
    detail::print(out, program.statements, "");
    out << "return";
    for (const std::string& result : program.results) out << ' ' << result;
    out << (program.raises ? "\n(raises)\n" : "\n");
    return out.str();
}

inline std::size_t countStatements(const std::vector<Statement>& statements) {
    std::size_t count = statements.size();
    for (const Statement& each : statements) {
        for (const Function& function : each.functions) count += countStatements(function.statements);
    }
    return count;
}

}  // namespace sonde::test::programs

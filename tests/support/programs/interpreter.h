#pragma once

#include <map>

#include "tests/support/programs/array.h"
#include "tests/support/programs/program.h"

/// Runs programs on plain arrays, as PyTorch runs them eagerly.
namespace sonde::test::programs {

/// Variables name tensor objects: two names of one object both see `t_` change its shape.
using Arrays = std::map<std::string, std::shared_ptr<Array>>;

/// x[parts]
inline Array indexed(const Array& x, const std::vector<IndexPart>& parts) {
    Array view = x;
    std::int64_t d = 0, left = 0;
    for (const IndexPart& part : parts) left += part.kind != IndexPart::Kind::Ellipsis;
    for (const IndexPart& part : parts) {
        if (part.kind == IndexPart::Kind::Ellipsis) {
            d = view.rank() - left;
            continue;
        }
        --left;
        if (part.kind == IndexPart::Kind::Number) view = selected(view, d, part.start);
        else view = sliced(view, d++, part.start, part.stop, part.step);
    }
    return view;
}

class Interpreter {
  public:
    /// Throws Invalid for what PyTorch refuses.
    static std::vector<Array> run(const Program& program, const std::vector<Array>& inputs) {
        Arrays variables;
        for (std::size_t i = 0; i < inputs.size(); ++i)
            variables["in" + std::to_string(i)] = std::make_shared<Array>(inputs[i]);
        run(program.statements, variables);
        std::vector<Array> results;
        for (const std::string& name : program.results) results.push_back(*read(variables, name));
        return results;
    }

    static void run(const std::vector<Statement>& statements, Arrays& variables) {
        for (const Statement& each : statements) run(each, variables);
    }

    static void run(const Statement& statement, Arrays& variables) {
        const std::string& op = statement.operation;
        if (op == "for") {
            for (std::int64_t i = 0; i < statement.integers.at(0); ++i)
                run(statement.functions.at(0).statements, variables);
            return;
        }
        if (statement.operands.empty()) throw Invalid(op + " without an operand");
        const std::shared_ptr<Array> x = read(variables, statement.operands.front());
        const bool writes = op.ends_with('_') || op == "setitem" || op == "setmask";
        if (writes) write(statement, *x, variables);
        std::shared_ptr<Array> result;
        // In-place methods give the tensor itself, and so do contiguous() of what is contiguous and flatten() of what
        // has one dimension.
        const bool isSame =
            (op == "contiguous" && x->isLayoutKnown && x->isContiguous()) || (op == "flatten" && x->shape.size() == 1);
        if (writes || op == "alias" || isSame) result = x;
        else if (op == "require") result = required(statement, *x);
        else if (op == "if" || op == "cond" || op == "pick" || op == "call") result = callOf(statement, variables);
        else result = std::make_shared<Array>(valueOf(statement, *x, variables));
        if (!statement.result.empty()) variables[statement.result] = std::move(result);
    }

  private:
    /// A module that raises unless the sum is large enough; else a copy.
    static std::shared_ptr<Array> required(const Statement& statement, const Array& x) {
        if (!(total(x) > *statement.number)) throw Raises("the sum is too small");
        return std::make_shared<Array>(copied(x));
    }

    static std::shared_ptr<Array> read(const Arrays& variables, const std::string& name) {
        const auto found = variables.find(name);
        if (found == variables.end()) throw Invalid("no variable " + name);
        return found->second;
    }

    static double total(const Array& x) {
        double sum = 0;
        forEachIndex(x.shape, [&](const Ints& index) { sum += x.at(index); });
        return rounded(x.type, sum);
    }

    /// if, cond, pick: the first operand's sum decides. All operands are arguments.
    static std::shared_ptr<Array> callOf(const Statement& statement, const Arrays& variables) {
        const bool isBranch = statement.operation != "call";
        const bool takesFirst = !isBranch || total(*read(variables, statement.operands.front())) > *statement.number;
        const Function& function = statement.functions.at(takesFirst ? 0 : 1);
        Arrays inside;
        for (std::size_t i = 0; i < function.parameters.size(); ++i)
            inside[function.parameters[i]] = read(variables, statement.operands.at(i));
        run(function.statements, inside);
        return read(inside, function.result);
    }

    static Array valueOf(const Statement& statement, const Array& x, const Arrays& variables) {
        const std::string& op = statement.operation;
        const Ints& n = statement.integers;
        const auto other = [&] { return *read(variables, statement.operands.at(1)); };
        const double number = statement.number.value_or(0);
        if (op == "detach") return x;
        if (op == "clone") return copied(x);
        if (op == "to") return copied(x, static_cast<Type>(n.at(0)));
        if (op == "narrow") return sliced(x, n.at(0), n.at(1), n.at(1) + n.at(2), 1);
        if (op == "select") return selected(x, n.at(0), n.at(1));
        if (op == "getitem") return indexed(x, statement.index);
        if (op == "view") return viewed(x, n);
        if (op == "reshape") return reshaped(x, n);
        if (op == "flatten") return reshaped(x, {-1});
        if (op == "view_as") return viewed(x, other().shape);
        if (op == "contiguous") return contiguous(x);
        if (op == "transpose") return transposed(x, n.at(0), n.at(1));
        if (op == "t") return turned(x);
        if (op == "permute") return permuted(x, n);
        if (op == "unsqueeze") return unsqueezed(x, n.at(0));
        if (op == "squeeze") return squeezed(x, n.at(0));
        if (op == "expand") return expanded(x, n);
        if (op == "expand_as") return expanded(x, other().shape);
        if (op == "diagonal") return diagonalOf(x);
        if (op == "chunk" || op == "split" || op == "unbind") return partOf(op, x, n);
        if (op == "add")
            return statement.operands.size() > 1 ? combined(x, other(), std::plus<>())
                                                 : mapped(x, typeWithNumber(x), [=](double v) { return v + number; });
        if (op == "sub") return combined(x, other(), std::minus<>());
        if (op == "mul") return mapped(x, typeWithNumber(x), [=](double v) { return v * number; });
        if (op == "neg") return mapped(x, [](double v) { return -v; });
        if (op == "relu") return mapped(x, [](double v) { return v > 0 ? v : 0.0; });
        if (op == "maximum") return combined(x, other(), [](double a, double b) { return std::max(a, b); });
        if (op == "where" && x.type != other().type) throw Invalid("where of two types");
        if (op == "where") return combined(x, other(), [](double a, double b) { return a > 0 ? a : b; });
        if (op == "sum") return summed(x, n.at(0));
        if (op == "cat") return joined({x, other()}, n.at(0));
        if (op == "zeros_like") return mapped(x, [](double) { return 0.0; });
        throw Invalid("unknown operation " + op);
    }

    static Array turned(const Array& x) {
        if (x.rank() > 2) throw Invalid("t of more than two dimensions");
        return x.rank() < 2 ? x : transposed(x, 0, 1);
    }

    /// Element n[2] of chunk(x, n[0], n[1]) and split(x, n[0], n[1]); element n[1] of unbind(x, n[0]).
    static Array partOf(const std::string& op, const Array& x, const Ints& n) {
        if (op == "unbind") return selected(x, n.at(0), n.at(1));
        const std::int64_t size = x.shape[x.dim(n.at(1))];
        const std::int64_t length = op == "split" ? n.at(0) : (size + n.at(0) - 1) / n.at(0);
        if (n.at(2) * length >= size) throw Invalid("fewer parts");
        return sliced(x, n.at(1), n.at(2) * length, std::min(size, (n.at(2) + 1) * length), 1);
    }

    static void write(const Statement& statement, Array& x, const Arrays& variables) {
        const std::string& op = statement.operation;
        const double number = statement.number.value_or(0);
        const bool isTensor = statement.operands.size() > 1;
        const auto other = [&] { return *read(variables, statement.operands.at(1)); };
        if (op == "add_")
            isTensor ? apply(x, other(), std::plus<>())
                     : apply(x, typeWithNumber(x), [=](double v) { return v + number; });
        else if (op == "sub_") apply(x, other(), std::minus<>());
        else if (op == "mul_") apply(x, typeWithNumber(x), [=](double v) { return v * number; });
        else if (op == "neg_") apply(x, [](double v) { return -v; });
        else if (op == "relu_") apply(x, [](double v) { return v > 0 ? v : 0.0; });
        else if (op == "zero_") apply(x, [](double) { return 0.0; });
        else if (op == "fill_") apply(x, [=](double) { return number; });
        else if (op == "clamp_") apply(x, typeWithNumber(x), [](double v) { return std::clamp(v, -3.0, 3.0); });
        else if (op == "copy_") assign(x, other());
        else if (op == "masked_fill_") fillWhere(x, other(), number);
        else if (op == "setmask") apply(x, [=](double v) { return v > 0 ? number : v; });
        else if (op == "unsqueeze_") x = unsqueezed(x, statement.integers.at(0));
        else if (op == "squeeze_") x = squeezed(x, statement.integers.at(0));
        else if (op == "transpose_") x = transposed(x, statement.integers.at(0), statement.integers.at(1));
        else if (op == "t_") x = turned(x);
        else if (op == "setitem")
            isTensor ? assign(indexed(x, statement.index), other(), other().rank() == 0)
                     : apply(indexed(x, statement.index), [=](double) { return number; });
        else throw Invalid("unknown operation " + op);
    }
};

}  // namespace sonde::test::programs

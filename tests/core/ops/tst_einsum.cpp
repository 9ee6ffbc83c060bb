// Einstein sums against nested loops over all letters, as the equation is defined.

#include <QtTest>

#include <complex>
#include <map>
#include <random>
#include <vector>

#include "core/ops/registry/registry.h"

namespace tst_einsum {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

base::Result<Tensor> einsum(const std::string& equation, const std::vector<Tensor>& operands, std::size_t threads = 2) {
    base::ThreadPool pool(threads);
    ops::RunEnvironment environment{&pool, {}, 0, false};
    std::vector<Value> list(operands.begin(), operands.end());
    const std::vector<Value> inputs{Value(equation), Value::list(std::move(list))};
    auto results = ops::call(*ops::Registry::all().find("aten", "einsum", 0), inputs, {}, 1, environment);
    if (!results) return std::move(results).error();
    return results->front().tensor();
}

template <typename T>
Tensor tensorOf(const Shape& shape, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_int_distribution<int> numbers(-9, 9);
    std::vector<T> values(static_cast<std::size_t>(shape.numel()));
    for (T& value : values) {
        value = static_cast<T>(numbers(engine));
        if constexpr (std::is_same_v<T, std::complex<double>>) value += T(0, numbers(engine));
    }
    return Tensor::of<T>(shape, values);
}

/// All letters run over their dimensions; "inputs" of the equation without ellipses. Small integers: every type is
/// exact.
template <typename T>
std::vector<T> byDefinition(const std::vector<std::string>& inputs, const std::string& output,
                            const std::vector<Tensor>& operands) {
    std::map<char, std::int64_t> dimSizes, at;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        for (std::size_t d = 0; d < inputs[i].size(); ++d) {
            std::int64_t& dimSize = dimSizes.try_emplace(inputs[i][d], 1).first->second;
            if (operands[i].dim(d) != 1) dimSize = operands[i].dim(d);
        }
    }
    std::int64_t count = 1, all = 1;
    for (char label : output) count *= dimSizes[label];
    for (const auto& [label, dimSize] : dimSizes) all *= dimSize;
    std::vector<T> result(static_cast<std::size_t>(count));
    for (std::int64_t n = 0; n < all; ++n) {
        std::int64_t rest = n;
        for (const auto& [label, dimSize] : dimSizes) at[label] = rest % dimSize, rest /= dimSize;
        T product = 1;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            std::int64_t offset = 0;
            for (std::size_t d = 0; d < inputs[i].size(); ++d)
                offset += (operands[i].dim(d) == 1 ? 0 : at[inputs[i][d]]) * operands[i].strides()[d];
            product *= operands[i].data<T>()[offset];
        }
        std::int64_t index = 0;
        for (char label : output) index = index * dimSizes[label] + at[label];
        result[static_cast<std::size_t>(index)] += product;
    }
    return result;
}

}  // namespace

class TestEinsum : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void areNestedLoops_data();
    void areNestedLoops();
    void ellipses();
    void integersWrap();
    void halvesAddUpInFloat();
    void resultsHaveTheirOwnMemory();
    void wrongEquations();

  private:
    template <typename T>
    void check(const QStringList& inputs, const QString& output, const QStringList& shapes);
};

void TestEinsum::areNestedLoops_data() {
    QTest::addColumn<QStringList>("inputs");
    QTest::addColumn<QString>("output");
    QTest::addColumn<QStringList>("shapes");
    const auto row = [](const char* equation, const char* shapes) {
        const QStringList sides = QString::fromLatin1(equation).split("->");
        QTest::newRow(qPrintable(QString::fromLatin1(equation) + ' ' + shapes))
            << sides[0].split(',') << sides[1] << QString::fromLatin1(shapes).split(' ');
    };
    row("ij,jk->ik", "3,4 4,5");
    row("ij,kj->ki", "3,4 5,4");
    row("bhid,bhjd->bhij", "2,3,4,5 2,3,6,5");
    row("bij,bjk->bik", "3,2,4 1,4,5");
    row("i,i->", "7 7");
    row("i,i->i", "7 7");
    row("i,j->ij", "3 4");
    row("i,j->ji", "3 4");
    row("ij->ji", "3,4");
    row("ij->", "3,4");
    row("ij->j", "3,4");
    row("ii->i", "4,4");
    row("ii->", "4,4");
    row("iij->j", "3,3,4");
    row("ij,ij->ij", "3,4 3,4");
    row("ij,ij->", "3,4 3,4");
    row("ij,j->i", "3,4 1");
    row("ij,jk->ik", "3,1 4,5");
    row("ijk,ilm->jl", "2,3,4 2,5,3");
    row("ab,cd,bc->ad", "3,4 5,2 4,5");
    row("ab,bc,cd,de->ae", "2,3 3,4 4,2 2,5");
    row("ab,ab,ab->b", "3,4 3,4 3,4");
    row("abc,cd,ae->bde", "2,3,4 4,5 2,3");
    row("ij,jk->ki", "1,4 4,1");
    row("ij,jk->ik", "3,0 0,5");
    row("ij,jk->ik", "0,3 3,5");
    row("a,b,c->cab", "2 3 4");
    row("abcd,cdab->", "2,3,2,3 2,3,2,3");
    row("abc,abd->cd", "3,4,5 3,4,6");
    row(",i->i", " 5");
}

template <typename T>
void TestEinsum::check(const QStringList& inputs, const QString& output, const QStringList& shapes) {
    std::vector<Tensor> operands;
    std::vector<std::string> labels;
    for (int i = 0; i < shapes.size(); ++i) {
        Shape shape;
        for (const QString& dimSize : shapes[i].split(',', Qt::SkipEmptyParts)) shape.push_back(dimSize.toInt());
        operands.push_back(tensorOf<T>(shape, static_cast<unsigned>(i + 1)));
        labels.push_back(inputs[i].toStdString());
    }
    const auto result = einsum((inputs.join(',') + "->" + output).toStdString(), operands);
    QVERIFY2(result, result ? "" : result.error().text().c_str());
    QCOMPARE(result->dtype(), operands[0].dtype());
    QVERIFY(result->isContiguous());
    const std::vector<T> wanted = byDefinition<T>(labels, output.toStdString(), operands);
    QCOMPARE(result->numel(), static_cast<std::int64_t>(wanted.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i) QVERIFY(result->data<T>()[i] == wanted[i]);
    // Views of other strides give the same.
    for (Tensor& operand : operands) {
        if (operand.rank() > 1)
            operand = operand.transposed(0, operand.rank() - 1).contiguous().value().transposed(0, operand.rank() - 1);
    }
    QVERIFY(tensor::identical(*result, *einsum((inputs.join(',') + "->" + output).toStdString(), operands, 1)));
}

void TestEinsum::areNestedLoops() {
    QFETCH(QStringList, inputs);
    QFETCH(QString, output);
    QFETCH(QStringList, shapes);
    check<float>(inputs, output, shapes);
    check<double>(inputs, output, shapes);
    check<std::complex<double>>(inputs, output, shapes);
    check<std::int64_t>(inputs, output, shapes);
    check<std::int32_t>(inputs, output, shapes);
    check<std::int8_t>(inputs, output, shapes);
}

void TestEinsum::ellipses() {
    const Tensor a = tensorOf<float>(Shape{2, 3, 4, 5}, 1), b = tensorOf<float>(Shape{3, 5, 6}, 2);
    const auto y = einsum("...ij,...jk->...ik", {a, b});
    QVERIFY2(y, y ? "" : y.error().text().c_str());
    QCOMPARE(y->shape().text(), std::string("[2,3,4,6]"));
    const std::vector<float> wanted = byDefinition<float>({"abij", "bjk"}, "abik", {a, b});
    for (std::size_t i = 0; i < wanted.size(); ++i) QCOMPARE(y->data<float>()[i], wanted[i]);
    // Without an arrow: what the ellipses are, then the letters that stand once, in alphabetic order.
    const auto implied = einsum("...kj,...ji", {a.sliced(0, 0, 1), b});
    QVERIFY(implied);
    QCOMPARE(implied->shape().text(), std::string("[1,3,6,4]"));
}

void TestEinsum::integersWrap() {
    const std::int64_t big = (std::int64_t{1} << 62) + 1;
    const Tensor x = Tensor::of<std::int64_t>(Shape{2}, {big, 5}), y = Tensor::of<std::int64_t>(Shape{2}, {4, 1});
    QCOMPARE(einsum("i,i->", {x, y})->data<std::int64_t>()[0], std::int64_t{9});
    QCOMPARE(einsum("i,i->i", {x, y})->data<std::int64_t>()[0], std::int64_t{4});
    QCOMPARE(einsum("i->", {Tensor::of<std::int64_t>(Shape{4}, {big, big, big, big})})->data<std::int64_t>()[0],
             std::int64_t{4});
}

/// Between the contractions nothing is rounded: 300·300·(1/300) would be infinite on the way in float16.
void TestEinsum::halvesAddUpInFloat() {
    const Tensor x = Tensor::of<float>(Shape{1}, {300}).cast(DType::Float16).value(),
                 y = Tensor::of<float>(Shape{1}, {0.5F / 300}).cast(DType::Float16).value();
    const auto product = einsum("a,b,c->abc", {x, x, y});
    QVERIFY(product);
    QCOMPARE(product->dtype(), DType::Float16);
    QVERIFY(std::fabs(product->toDouble(0) - 150) < 0.2);
    const Tensor ones = Tensor::of<float>(Shape{4096}, std::vector<float>(4096, 1.0F)).cast(DType::BFloat16).value();
    QCOMPARE(einsum("i->", {ones})->toDouble(0), 4096.0);
}

void TestEinsum::resultsHaveTheirOwnMemory() {
    const Tensor x = tensorOf<float>(Shape{3, 4}, 1);
    for (const char* equation : {"ij->ij", "ij->ji", "ij"}) QVERIFY(einsum(equation, {x})->storage() != x.storage());
}

void TestEinsum::wrongEquations() {
    const Tensor x = tensorOf<float>(Shape{3, 4}, 1);
    for (const char* equation : {"ij,jk->ik", "ijk->i", "ij->k", "i1->i", "i->i", "ij,ij->ij,", ""})
        QVERIFY2(!einsum(equation, {x}), equation);
    QVERIFY(!einsum("ij,ij->", {x, tensorOf<float>(Shape{3, 5}, 1)}));
}

QTEST_APPLESS_MAIN(TestEinsum)

}  // namespace tst_einsum

#include "tst_einsum.moc"

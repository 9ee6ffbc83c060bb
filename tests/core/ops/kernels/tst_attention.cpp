// Attention over so many keys that it is done in blocks of queries, against the definition in float64.

#include <QtTest>

#include <cmath>
#include <functional>

#include "core/ops/registry/registry.h"
#include "tests/support/random_tensor.h"

namespace tst_attention {

using namespace sonde;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

constexpr std::int64_t kHeads = 2, kQueries = 190, kKeys = 4003, kSize = 6;  // two blocks of 112 queries

/// What is added to the score of a query and a key.
using Bias = std::function<double(std::int64_t query, std::int64_t key)>;

/// Probabilities of one query, by the definition.
std::vector<double> probabilities(const Tensor& q, const Tensor& k, std::int64_t head, std::int64_t i,
                                  const Bias& bias) {
    std::vector<double> row;
    double largest = -INFINITY, sum = 0;
    for (std::int64_t j = 0; j < kKeys; ++j) {
        double score = 0;
        for (std::int64_t e = 0; e < kSize; ++e)
            score += q.toDouble((head * kQueries + i) * kSize + e) * k.toDouble((head * kKeys + j) * kSize + e);
        row.push_back(score / std::sqrt(static_cast<double>(kSize)) + bias(i, j));
        largest = std::max(largest, row.back());
    }
    for (double& each : row) sum += each = std::exp(each - largest);
    for (double& each : row) each /= sum;
    return row;
}

}  // namespace

class TestAttention : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void equalsTheDefinition_data();
    void equalsTheDefinition();
    void queriesWithoutKeysAreNaN();
    void scoresOfBlocksAreOutputs();

  private:
    const Tensor m_q = test::randomTensor({1, kHeads, kQueries, kSize}, 1, 2),
                 m_k = test::randomTensor({1, kHeads, kKeys, kSize}, 2, 2),
                 m_v = test::randomTensor({1, kHeads, kKeys, kSize}, 3, 2);

    std::vector<Value> called(std::size_t threads, const Value& mask, bool isCausal) const {
        const ops::OpDef* op = ops::Registry::all().find("aten", "scaled_dot_product_attention", 0);
        base::ThreadPool pool(threads);
        ops::RunEnvironment environment{&pool, {}, 0, false};
        const std::vector<Value> inputs{Value(m_q), Value(m_k),        Value(m_v),
                                        mask,       Value::ofFloat(0), Value::ofBool(isCausal)};
        auto results = ops::call(*op, inputs, {}, 1, environment, 0);
        return results ? *results : std::vector<Value>();
    }
};

void TestAttention::equalsTheDefinition_data() {
    QTest::addColumn<QString>("mask");
    for (const char* name : {"none", "causal", "bools for keys", "numbers for each"}) QTest::newRow(name) << name;
}

/// On one thread and on several, with the same bits.
void TestAttention::equalsTheDefinition() {
    QFETCH(QString, mask);
    Value given;
    Bias bias = [](std::int64_t, std::int64_t) { return 0.0; };
    const Tensor numbers = test::randomTensor({kQueries, kKeys}, 4, 2);
    if (mask == "causal") bias = [](std::int64_t i, std::int64_t j) { return j > i ? -INFINITY : 0.0; };
    if (mask == "bools for keys") {
        Tensor kept = Tensor::allocate(tensor::DType::Bool, Shape{1, kKeys}).value();
        for (std::int64_t j = 0; j < kKeys; ++j) kept.mutableData<bool>()[j] = j % 3 != 0;
        given = Value(kept);
        bias = [](std::int64_t, std::int64_t j) { return j % 3 != 0 ? 0.0 : -INFINITY; };
    } else if (mask == "numbers for each") {
        given = Value(numbers);
        bias = [&numbers](std::int64_t i, std::int64_t j) { return numbers.toDouble(i * kKeys + j); };
    }
    const auto one = called(1, given, mask == "causal");
    QCOMPARE(one.size(), std::size_t{1});
    const Tensor y = one[0].tensor();
    QCOMPARE(y.shape().text(), (Shape{1, kHeads, kQueries, kSize}).text());
    for (const std::size_t threads : {2, 3})
        QVERIFY(tensor::identical(called(threads, given, mask == "causal").at(0).tensor(), y));
    for (std::int64_t head = 0; head < kHeads; ++head) {
        for (const std::int64_t i : {0, 1, 55, 111, 112, 113, 189}) {
            const std::vector<double> row = probabilities(m_q, m_k, head, i, bias);
            for (std::int64_t e = 0; e < kSize; ++e) {
                double want = 0;
                for (std::int64_t j = 0; j < kKeys; ++j)
                    want += row[static_cast<std::size_t>(j)] * m_v.toDouble((head * kKeys + j) * kSize + e);
                const double found = y.toDouble((head * kQueries + i) * kSize + e);
                QVERIFY2(std::fabs(found - want) < 1e-5, qPrintable(QString("%1 %2: %3").arg(i).arg(e).arg(found)));
            }
        }
    }
}

/// As in PyTorch: softmax of nothing but -inf.
void TestAttention::queriesWithoutKeysAreNaN() {
    Tensor kept = Tensor::allocate(tensor::DType::Bool, Shape{kQueries, 1}).value();
    for (std::int64_t i = 0; i < kQueries; ++i) kept.mutableData<bool>()[i] = i != 120;
    const auto results = called(1, Value(kept), false);
    QCOMPARE(results.size(), std::size_t{1});
    for (std::int64_t i = 0; i < kQueries; ++i) QCOMPARE(std::isnan(results[0].tensor().toDouble(i * kSize)), i == 120);
}

/// ONNX's Attention gives the probabilities themselves, too.
void TestAttention::scoresOfBlocksAreOutputs() {
    const ops::OpDef* op = ops::Registry::all().find("", "Attention", 23);
    QVERIFY(op);
    base::ThreadPool pool(2);
    ops::RunEnvironment environment{&pool, {}, 0, false};
    const auto attributes = ops::completeAttributes(*op, {{"qk_matmul_output_mode", std::int64_t{3}}});
    QVERIFY(attributes.has_value());
    const std::vector<Value> inputs{Value(m_q), Value(m_k), Value(m_v)};
    const auto results = ops::call(*op, inputs, *attributes, 4, environment, 23);
    QVERIFY2(results.has_value(), results ? "" : results.error().text().c_str());
    const Tensor scores = (*results)[3].tensor();
    QCOMPARE(scores.shape().text(), (Shape{1, kHeads, kQueries, kKeys}).text());
    for (const std::int64_t i : {0, 111, 112, 189}) {
        const auto row = probabilities(m_q, m_k, 1, i, [](std::int64_t, std::int64_t) { return 0.0; });
        for (std::int64_t j = 0; j < kKeys; ++j) {
            const double found = scores.toDouble((kQueries + i) * kKeys + j), want = row[static_cast<std::size_t>(j)];
            QVERIFY2(std::fabs(found - want) < 1e-6, qPrintable(QString("%1 %2: %3").arg(i).arg(j).arg(found)));
        }
    }
}

QTEST_APPLESS_MAIN(TestAttention)

}  // namespace tst_attention

#include "tst_attention.moc"

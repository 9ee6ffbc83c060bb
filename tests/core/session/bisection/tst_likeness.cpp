// Two models that are no forms of one network: the bisection says so, and an error says which of both it comes from.

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include "core/document/document.h"
#include "core/session/bisection/bisection.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"

namespace tst_likeness {

using namespace sonde;
using namespace sonde::session;
using tensor::Tensor;
namespace onnx = test::onnxfile;
using DocumentPtr = std::shared_ptr<const document::Document>;

namespace {

constexpr int kCount = 12;

/// So many operations one after the other, from `input` to `prefix` with the last number, and before them x · w.
std::string chainOf(const char* op, const std::string& input, const std::string& prefix, std::int64_t width,
                    float scale = 1) {
    std::vector<float> weights(static_cast<std::size_t>(2 * width), scale);
    onnx::Graph graph{{{"MatMul", {input, prefix + "w"}, {prefix + "0"}}},
                      {onnx::valueInfo(input, 1, {2, 2})},
                      {onnx::valueInfo(prefix + std::to_string(kCount), 1, {2, width})},
                      {onnx::rawTensor(prefix + "w", 1, {2, width}, test::floatBytes(weights))}};
    for (int i = 1; i <= kCount; ++i)
        graph.nodes.push_back({op, {prefix + std::to_string(i - 1)}, {prefix + std::to_string(i)}});
    return onnx::model(graph);
}

}  // namespace

class TestLikeness : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// In both the operations are one repeated part: its result has a counterpart, as has the output.
    void unrelatedModelsAreSaidToBe() {
        const auto a = opened("a.onnx", chainOf("Relu", "x", "a", 2)),
                   b = opened("b.onnx", chainOf("Abs", "image", "b", 3));
        const auto found = bisect(a, b);
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        const std::string expected =
            "a.onnx and b.onnx do not seem to be the same network: 2 of 13 values have a counterpart, 2 of them of "
            "another shape; 0 % of the weights have shapes in common; input x is paired with image by its position";
        QCOMPARE(bisection::unlikeText(*found), expected);
        QVERIFY(bisection::outcomeText(*found, nullptr).starts_with(expected + "\n"));
        const auto json = jsonOf(*found);
        QCOMPARE(json["same_network"], nlohmann::ordered_json(false));
        QCOMPARE(json["matched"].get<double>(), 2.0 / 13);
        QCOMPARE(json["other_matched"].get<double>(), 2.0 / 13);
        QCOMPARE(json["reshaped"].get<int>(), 2);
    }
    /// Another weight, and all that with other names: still one network.
    void formsOfOneNetworkAreNot_data() {
        QTest::addColumn<QString>("prefix");
        QTest::newRow("same names") << "a";
        QTest::newRow("other names") << "b";
    }
    void formsOfOneNetworkAreNot() {
        QFETCH(QString, prefix);
        const auto a = opened("a.onnx", chainOf("Relu", "x", "a", 2)),
                   b = opened("b.onnx", chainOf("Relu", "x", prefix.toStdString(), 2, 3));
        const auto found = bisect(a, b);
        QVERIFY2(found, found ? "" : found.error().text().c_str());
        QVERIFY(found->found.differs);
        QCOMPARE(bisection::unlikeText(*found), std::string());
        QCOMPARE(jsonOf(*found)["same_network"], nlohmann::ordered_json(true));
    }
    void nothingInCommonIsRefused() {
        // The output of b is named as an operation in the middle of a.
        const auto a = opened("a.onnx", chainOf("Relu", "x", "a", 2));
        onnx::Graph graph{
            {{"Relu", {"x"}, {"a3"}}}, {onnx::valueInfo("x", 1, {2, 2})}, {onnx::valueInfo("a3", 1, {2, 2})}};
        const auto found = bisect(a, opened("b.onnx", onnx::model(graph)));
        QVERIFY(!found);
        QCOMPARE(found.error().kind, base::ErrorKind::Usage);
        QCOMPARE(found.error().what, std::string("no output of the model has a counterpart in b.onnx"));
        QCOMPARE(found.error().where, std::string("1 of 13 values have one"));
    }
    /// x has two columns, w three rows.
    void errorsSayWhichModelFailed() {
        onnx::Graph graph{{{"MatMul", {"x", "w"}, {"y"}}},
                          {onnx::valueInfo("x", 1, {2, 2})},
                          {onnx::valueInfo("y", 1, {2, 2})},
                          {onnx::rawTensor("w", 1, {3, 2}, test::floatBytes({1, 2, 3, 4, 5, 6}))}};
        const std::string broken = onnx::model(graph);
        graph.initializers = {onnx::rawTensor("w", 1, {2, 2}, test::floatBytes({1, 2, 3, 4}))};
        const auto good = opened("good.onnx", onnx::model(graph)), bad = opened("bad.onnx", broken);
        for (const auto& found : {bisect(good, bad), bisect(bad, good)}) {
            QVERIFY(!found);
            QCOMPARE(found.error().kind, base::ErrorKind::Run);
            QVERIFY2(found.error().where.starts_with("in bad.onnx, "), found.error().where.c_str());
        }
        // Two of one name are told apart by their folders.
        const auto namesake = opened("other/good.onnx", broken);
        const auto found = bisect(good, namesake);
        QVERIFY(!found);
        QVERIFY2(found.error().where.find("other/good.onnx, ") != std::string::npos, found.error().where.c_str());
    }

  private:
    DocumentPtr opened(const QString& name, const std::string& model) {
        const QString path = m_files.filePath(name);
        if (!QDir().mkpath(QFileInfo(path).path()) || !onnx::write(path, model)) return {};
        const auto document = document::open(path.toStdString());
        return document ? *document : nullptr;
    }
    base::Result<bisection::Outcome> bisect(const DocumentPtr& a, const DocumentPtr& b) {
        return bisection::bisect({a, {tensor::Value(Tensor::of<float>({2, 2}, {1, 2, 3, 4}))}},
                                 bisection::OtherModel{b});
    }
    static nlohmann::ordered_json jsonOf(const bisection::Outcome& found) {
        nlohmann::ordered_json json;
        bisection::addOutcome(json, found, nullptr);
        return json;
    }

    QTemporaryDir m_files;
};

QTEST_GUILESS_MAIN(TestLikeness)

}  // namespace tst_likeness

#include "tst_likeness.moc"

// What a model must have for a lesson, and what a lesson says that is wrong: made models and lessons, without a window.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/session/lesson/lesson_run.h"
#include "tests/support/float_bytes.h"
#include "tests/support/onnx_file.h"

namespace tst_lesson_faults {

using namespace sonde;
using session::LessonRun;
using session::Session;
namespace onnx = test::onnxfile;

namespace {

/// y = softmax(x·w)·v, or ·x.
onnx::Graph gate(bool asksTheInput) {
    const auto weights = [](const char* name, std::size_t count, std::vector<std::int64_t> shape) {
        std::vector<float> values;
        for (std::size_t i = 0; i < count; ++i) values.push_back(0.1F * static_cast<float>(i % 5) - 0.2F);
        return onnx::rawTensor(name, 1, shape, test::floatBytes(values));
    };
    onnx::Graph graph{{{"MatMul", {"x", "w"}, {"scores"}},
                       {"Softmax", {"scores"}, {"shares"}},
                       {"MatMul", {"shares", asksTheInput ? "x" : "v"}, {"y"}}},
                      {onnx::valueInfo("x", 1, {4, 4})},
                      {onnx::valueInfo("y", 1, {4, 4})},
                      {weights("w", 16, {4, 4}), weights("v", 16, {4, 4})}};
    return graph;
}

}  // namespace

class TestLessonFaults : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aChoiceBetweenConstantsIsNoAttention();
    void aSkipMayGoThroughAnIdentity();
    void aNormalisationWithoutWeightsHasNone();
    void whatIsWrongIsToldWithItsLine_data();
    void whatIsWrongIsToldWithItsLine();
    void aNumberBeginsNoList();
    void anAnswerWithoutItsValueIsToldWithItsLine();

  private:
    /// A lesson on an opened model.
    static std::optional<LessonRun> begin(Session& session, const QString& model, const char* lesson) {
        if (!session.open(model.toStdString())) return std::nullopt;
        auto text = session::openLesson(lesson);
        if (!text) return std::nullopt;
        auto run = LessonRun::begin(session, *std::move(text));
        return run ? std::optional<LessonRun>(std::move(*run)) : std::nullopt;
    }
    QTemporaryDir m_files;
};

/// An attention asks and answers with values of the input: both products have two of them.
void TestLessonFaults::aChoiceBetweenConstantsIsNoAttention() {
    const QString path = m_files.filePath(QStringLiteral("gate.onnx"));
    const auto isAttention = [&](const onnx::Graph& graph) {
        Session session;
        if (!onnx::write(path, onnx::model(graph)) || !session.open(path.toStdString())) return false;
        auto opened = session::openLesson("attention");
        return opened && LessonRun::begin(session, *std::move(opened)).has_value();
    };
    QVERIFY(!isAttention(gate(false)));
    QVERIFY(!isAttention(gate(true)));  // scores of weights alone
    onnx::Graph attention = gate(true);
    attention.nodes.front() = {"MatMul", {"x", "turned"}, {"scores"}};
    attention.nodes.insert(attention.nodes.begin(), {"Transpose", {"x"}, {"turned"}});
    QVERIFY(isAttention(attention));
    attention.nodes.back().inputs.back() = "v";
    QVERIFY(!isAttention(attention));
}

/// y = relu(x) * w + identity(relu(x)).
void TestLessonFaults::aSkipMayGoThroughAnIdentity() {
    onnx::Graph graph{{{"Relu", {"x"}, {"r"}},
                       {"Identity", {"r"}, {"skip"}},
                       {"MatMul", {"r", "w"}, {"branch"}},
                       {"Add", {"branch", "skip"}, {"y"}}},
                      {onnx::valueInfo("x", 1, {2, 2})},
                      {onnx::valueInfo("y", 1, {2, 2})},
                      {onnx::rawTensor("w", 1, {2, 2}, test::floatBytes({1, 2, 3, 4}))}};
    const QString path = m_files.filePath(QStringLiteral("identity.onnx"));
    QVERIFY(onnx::write(path, onnx::model(graph)));
    Session session;
    QVERIFY(session.open(path.toStdString()));
    auto opened = session::openLesson("residual");
    QVERIFY(opened);
    auto run = LessonRun::begin(session, *std::move(opened));
    QVERIFY2(run, run ? "" : run.error().what.c_str());
    QCOMPARE(run->lesson().graph().node(run->lesson().node("skip")).name, std::string("skip"));
    QCOMPARE(run->lesson().graph().node(run->lesson().node("branch")).name, std::string("branch"));
}

/// Of a layer that has none nothing is said of them.
void TestLessonFaults::aNormalisationWithoutWeightsHasNone() {
    Session session;
    auto run = begin(session, QStringLiteral("zoo:gpt_mini"), "normalisation");
    QVERIFY(run && run->goTo(1));
    const auto textNow = [&run] { return session::textOf(run->lesson(), run->step(), run->values()).markdown; };
    QVERIFY2(textNow().find("own weight") == std::string::npos, textNow().c_str());
    QVERIFY(run->goTo(2));
    QVERIFY2(textNow().find("own weight") != std::string::npos, textNow().c_str());
}

void TestLessonFaults::whatIsWrongIsToldWithItsLine_data() {
    QTest::addColumn<QString>("step");
    QTest::addColumn<int>("line");
    QTest::addColumn<QString>("what");
    QTest::newRow("formula") << "```sonde\nrun\nformula $a[0,0,0,0,0,0,0]\n```\n" << 12 << "";
    QTest::newRow("number") << "```sonde\nrun\n```\n\nSee\nhere: {{1/0}}.\n" << 15 << "";
    QTest::newRow("many") << "```sonde\nrun\n```\n{{$a}}\n" << 13 << "numbers, of which at most 8 are written";
    QTest::newRow("question") << "```sonde\nrun\n```\n```question\nask: {{sum($a, axis=9)}}?\nanswer: 1\n```\n"
                              << 13 << "";
}

void TestLessonFaults::whatIsWrongIsToldWithItsLine() {
    QFETCH(QString, step);
    QFETCH(int, line);
    QFETCH(QString, what);
    QFile file(m_files.filePath(QStringLiteral("wrong.md")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("# T\n\nx\n\n```sonde\nbind a: first kind relu | a ReLU\n```\n\n## S\n" + step.toUtf8());
    file.close();
    Session session;
    auto run =
        begin(session, QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"), qPrintable(file.fileName()));
    QVERIFY(run && run->goTo(0));
    const session::StepText text = session::textOf(run->lesson(), run->step(), run->values());
    QVERIFY(text.isComplete);
    QCOMPARE(text.problems.size(), std::size_t{1});
    const base::Error& problem = text.problems.front();
    const std::string place = "line " + std::to_string(line);
    QVERIFY2(problem.where.find("wrong.md, " + place) != std::string::npos, problem.where.c_str());
    QVERIFY2(problem.what.find(what.toStdString()) != std::string::npos, problem.what.c_str());
    const std::string told = text.markdown + (text.asks.empty() ? "" : text.asks.front());
    QVERIFY2(told.find("… (`" + place + ": ") != std::string::npos, told.c_str());
}

/// "3." at the beginning of a line is an item of a list in Markdown (CommonMark 0.30, 5.2).
void TestLessonFaults::aNumberBeginsNoList() {
    QFile file(m_files.filePath(QStringLiteral("numbers.md")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("# T\n\n## S\n\nThe smallest is\n{{1 + 2}}. Then\n\n{{4}} comes.\n\n| a |\n{{5}}\n");
    file.close();
    Session session;
    auto run =
        begin(session, QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"), qPrintable(file.fileName()));
    QVERIFY(run && run->goTo(0));
    const std::string text = session::textOf(run->lesson(), run->step(), run->values()).markdown;
    QVERIFY2(text.find("The smallest is 3. Then\n\n4 comes.\n\n| a |\n5") != std::string::npos, text.c_str());
}

void TestLessonFaults::anAnswerWithoutItsValueIsToldWithItsLine() {
    QFile file(m_files.filePath(QStringLiteral("unrun.md")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("# T\n\n```sonde\nbind a: first kind relu\n```\n\n## S\n\n```question\nask: q\nanswer: $a\n```\n");
    file.close();
    Session session;
    auto run =
        begin(session, QStringLiteral(SONDE_TEST_DATA "/models/resnet18_slim.onnx"), qPrintable(file.fileName()));
    QVERIFY(run && run->goTo(0));
    const auto answer = session::solution(run->lesson(), run->step().questions.front(), run->values());
    QVERIFY(!answer);
    QCOMPARE(answer.error().what, std::string("the value of $a is not known"));
    QVERIFY2(answer.error().where.ends_with("unrun.md, line 9"), answer.error().where.c_str());
}

QTEST_MAIN(TestLessonFaults)

}  // namespace tst_lesson_faults

#include "tst_lesson_faults.moc"

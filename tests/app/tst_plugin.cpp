// Models of one's own in C++: a shared library with SONDE_MODEL goes through the verbs like any other model.

#include <QCryptographicHash>
#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <memory>
#include <thread>

#include "core/document/document.h"
#include "core/document/native_library.h"
#include "core/document/plugin_notes.h"
#include "core/document/sha256.h"
#include "core/io/npz/npz.h"
#include "tests/support/changing_file.h"
#include "tests/support/run_sonde.h"

namespace tst_plugin {

using namespace sonde;
using test::Outcome;
using test::runSonde;

namespace {

QString plugin(const QString& name) { return QStringLiteral(SONDE_BINARY_DIR "/../tests/plugins/") + name; }

QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

std::vector<document::PluginEntry> notesOf(const QByteArray& content) {
    return document::readPluginNotes(
        std::as_bytes(std::span(content.data(), static_cast<std::size_t>(content.size()))));
}

/// The operator new of AddressSanitizer ends the program where that of the standard throws. True only there.
bool endsWhereNewThrows([[maybe_unused]] const Outcome& outcome) {
#ifdef __SANITIZE_ADDRESS__
    return outcome.status == 1 && outcome.err.contains("ERROR: AddressSanitizer: allocator is out of memory");
#else
    return false;
#endif
}

}  // namespace

class TestPlugin : public QObject {
    Q_OBJECT

  private slots:
    // Neither what this user agreed to counts here, nor does the test add to it.
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_trace = m_folder->filePath("trace");
        qputenv("XDG_CONFIG_HOME", m_folder->filePath("config").toLocal8Bit());
        qputenv("SONDE_TEST_TRACE", m_trace.toLocal8Bit());
    }

    void hashesAreThoseOfTheStandard() {
        // FIPS 180-4 examples: "abc" and the empty message
        const auto hashOf = [](const QByteArray& text) {
            return document::sha256(std::as_bytes(std::span(text.data(), static_cast<std::size_t>(text.size()))));
        };
        QCOMPARE(hashOf("abc"), std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
        QCOMPARE(hashOf(""), std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        const QByteArray content = contentOf(plugin("own_models.so"));
        QCOMPARE(QByteArray::fromStdString(hashOf(content)),
                 QCryptographicHash::hash(content, QCryptographicHash::Sha256).toHex());
    }

    void nothingRunsWithoutBeingAskedFor_data() {
        QTest::addColumn<QStringList>("arguments");
        const QString verbs = runSonde({"--help"}).out;
        for (const char* name : {"own.so", "cute.onnx", "cute.pt", "cute", "cute.so.1", "cute.SO"}) {
            const bool isLibrary = QByteArray(name) == "own.so";
            for (const char* verb : {"trace", "run", "check", "bench", "save", "dump", "render", "window"}) {
                if (!verbs.contains(QString("\n  ") + verb + " ")) continue;  // a build without the window
                QStringList arguments{verb, name};
                if (QByteArray(verb) == "check") arguments << "reference.npz";
                if (QByteArray(verb) == "save" || QByteArray(verb) == "dump")
                    arguments << "-o"
                              << "out";
                if (QByteArray(verb) == "render")
                    arguments << "-o"
                              << "out.svg";
                if (QByteArray(verb) == "window")
                    arguments << "--screenshot"
                              << "out.png";
                QTest::addRow("%s %s", verb, name) << arguments;
                if (!isLibrary)
                    QTest::addRow("%s %s, allowed", verb, name) << arguments + QStringList{"--allow-native"};
            }
        }
    }
    void nothingRunsWithoutBeingAskedFor() {
        QFETCH(QStringList, arguments);
        const QString file = m_folder->filePath(arguments[1]);
        QVERIFY(QFile::copy(plugin("leaves_trace.so"), file));
        arguments[1] = file;
        for (qsizetype i = 2; i < arguments.size(); ++i)
            if (arguments[i].startsWith("out") || arguments[i].startsWith("reference"))
                arguments[i] = m_folder->filePath(arguments[i]);
        const Outcome outcome = runSonde(arguments);
        QVERIFY(!QFile::exists(m_trace));
        QCOMPARE(outcome.status, 3);
        QVERIFY2(outcome.err.contains("sonde: error: this is a shared library"), qPrintable(outcome.err));
        if (file.endsWith(".so")) QVERIFY2(outcome.err.contains("hint: --allow-native"), qPrintable(outcome.err));
    }

    // The test's library does what it is there for.
    void withConsentItsConstructorRuns() {
        const Outcome outcome = runSonde({"trace", "--allow-native", plugin("leaves_trace.so")});
        QVERIFY2(outcome.err.contains("does not export sonde_model_Traced"), qPrintable(outcome.err));
        QCOMPARE(contentOf(m_trace), QByteArray("constructor ran"));
    }

    void consentIsRememberedForTheContent() {
        const QString file = m_folder->filePath("own.so");
        QVERIFY(QFile::copy(plugin("own_models.so"), file));
        QCOMPARE(runSonde({"trace", file}).status, 3);
        const auto request = document::nativeRequest(file.toStdString() + "#scaled");
        QVERIFY(request.has_value());
        QCOMPARE(request->models.size(), std::size_t{6});
        QCOMPARE(request->path.string(), file.toStdString());
        QVERIFY(document::agreeToNative(request->hash, request->path).has_value());
        QVERIFY(document::isNativeAgreed(request->hash));
        QVERIFY(!document::nativeRequest(file.toStdString()));
        // In another process, and under another name.
        QCOMPARE(runSonde({"trace", file}).status, 0);
        const QString moved = m_folder->filePath("moved.so");
        QVERIFY(QFile::rename(file, moved));
        QCOMPARE(runSonde({"trace", moved + "#branching", "--tracer", "robust"}).status, 0);
        // Not for anything else: one byte more is another content.
        QFile changed(moved);
        QVERIFY(changed.open(QIODevice::Append) && changed.write("x", 1) == 1);
        changed.close();
        const Outcome outcome = runSonde({"trace", moved});
        QCOMPARE(outcome.status, 3);
        QVERIFY2(outcome.err.contains("--allow-native"), qPrintable(outcome.err));
        QVERIFY(document::nativeRequest(moved.toStdString()).has_value());
        // --allow-native is for one command.
        QCOMPARE(runSonde({"trace", "--allow-native", moved}).status, 0);
        QCOMPARE(runSonde({"trace", moved}).status, 3);
    }

    void aListThatOthersMayWriteCountsForNothing() {
        const std::string hash(64, 'a');
        QVERIFY(document::agreeToNative(hash, "a.so").has_value());
        QVERIFY(document::isNativeAgreed(hash));
        QVERIFY(!document::isNativeAgreed(std::string(64, 'b')));
        QVERIFY(!document::isNativeAgreed(hash.substr(0, 63)) && !document::isNativeAgreed(""));
        const QString list = QString::fromStdString(document::nativeAgreementsFile().string());
        QVERIFY(list.startsWith(m_folder->path()));
        QVERIFY(
            QFile::setPermissions(list, QFile::ReadOwner | QFile::WriteOwner | QFile::ReadOther | QFile::WriteOther));
        QVERIFY(!document::isNativeAgreed(hash));
    }

    // The file is exchanged again and again while it is opened: what runs is what was agreed to, or nothing.
    void aSwappedFileDoesNotRun() {
        const QString file = m_folder->filePath("own.so");
        const std::string agreed = contentOf(plugin("missing_symbol.so")).toStdString();
        const std::string other = contentOf(plugin("leaves_trace.so")).toStdString();
        QVERIFY(test::replaceFile(file, agreed));
        const auto request = document::nativeRequest(file.toStdString());
        QVERIFY(request && document::agreeToNative(request->hash, request->path));
        std::atomic<bool> stop{false};
        std::thread swapper([&] {
            for (int i = 0; !stop; ++i) {
                test::replaceFile(file, i % 2 ? agreed : other);
                test::overwriteFile(file, i % 3 ? other : agreed);
            }
        });
        int reached = 0, refused = 0;
        for (int i = 0; i < 150; ++i) {
            const auto opened = document::open(file.toStdString());
            if (opened) continue;
            reached += opened.error().what.find("the library cannot be loaded") != std::string::npos ? 1 : 0;
            refused += opened.error().what.find("you have not agreed") != std::string::npos ? 1 : 0;
        }
        stop = true;
        swapper.join();
        QVERIFY2(!QFile::exists(m_trace), "a library ran that nobody agreed to");
        QVERIFY(test::replaceFile(file, other));
        QVERIFY(!document::open(file.toStdString()) && !QFile::exists(m_trace));
        qInfo("%d times the loader was reached, %d times it was refused", reached, refused);
    }

    // What was read is what is loaded, whatever the path leads to by then.
    void theBytesThatWereHashedAreLoaded() {
        const QString file = m_folder->filePath("own.so");
        QVERIFY(QFile::copy(plugin("missing_symbol.so"), file));
        const auto library = document::NativeLibrary::read(file.toStdString());
        QVERIFY(library.has_value());
        QVERIFY(test::replaceFile(file, contentOf(plugin("leaves_trace.so")).toStdString()));
        const auto loaded = (*library)->load();
        // It lacks functions that this program does not export; the other one needs none and would load.
        QVERIFY2(!loaded && loaded.error().what.find("undefined symbol") != std::string::npos,
                 loaded ? "" : loaded.error().what.c_str());
        QVERIFY(!QFile::exists(m_trace));
    }

    void isTracedAsAnyModel() {
        const Outcome outcome = runSonde({"trace", "--allow-native", plugin("own_models.so")});
        QCOMPARE(outcome.status, 0);
        QCOMPARE(outcome.out,
                 QString("Node x is from module\nNode factor is from module\nNode linear is from module linear\n"
                         "Node relu is from module relu\nNode mul is from module\nNode output is from module None\n"));
        QVERIFY2(outcome.err.contains("own_models.so#branching"), qPrintable(outcome.err));
    }

    void givesHandWorkedNumbers() {
        // x = [[1, 1], [2, -1], [0, 1]]: W x + b = [[3.5, -2], [0.5, 9], [2.5, -5]], relu, times [2, 10]
        QTemporaryDir folder;
        const QString reference = folder.filePath("reference.npz");
        write(reference, {{"in.x", tensor::Tensor::of<float>({3, 2}, {1, 1, 2, -1, 0, 1})},
                          {"out.out", tensor::Tensor::of<float>({3, 2}, {7, 0, 1, 90, 5, 0})},
                          {"node.linear", tensor::Tensor::of<float>({3, 2}, {3.5F, -2, 0.5F, 9, 2.5F, -5})}});
        const Outcome right = runSonde({"check", "--allow-native", plugin("own_models.so#scaled"), reference});
        QVERIFY2(right.status == 0, qPrintable(right.out + right.err));
        write(reference, {{"in.x", tensor::Tensor::of<float>({3, 2}, {1, 1, 2, -1, 0, 1})},
                          {"out.out", tensor::Tensor::of<float>({3, 2}, {7, 0, 1, 91, 5, 0})}});
        QCOMPARE(runSonde({"check", "--allow-native", plugin("own_models.so"), reference}).status, 1);
    }

    void forwardThatDependsOnTheDataRuns() {
        QTemporaryDir folder;
        const QString reference = folder.filePath("reference.npz");
        write(reference, {{"in.x", tensor::Tensor::of<float>({3}, {1, 2, -0.5F})},
                          {"out.out", tensor::Tensor::of<float>({3}, {2, 4, -1})},
                          {"case1.in.x", tensor::Tensor::of<float>({2}, {-1, -3})},
                          {"case1.out.out", tensor::Tensor::of<float>({2}, {1, 3})}});
        const Outcome outcome = runSonde({"check", "--allow-native", plugin("own_models.so#branching"), reference});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.out + outcome.err));
        QCOMPARE(
            runSonde({"trace", "--allow-native", plugin("own_models.so#branching"), "--tracer", "module-path"}).status,
            3);
    }

    void takesWeightsFromAFile() {
        QTemporaryDir folder;
        const QString weights = folder.filePath("weights.npz");
        const QString reference = folder.filePath("reference.npz");
        write(weights, {{"linear.weight", tensor::Tensor::of<float>({2, 2}, {1, 0, 0, 1})},
                        {"linear.bias", tensor::Tensor::of<float>({2}, {0, 0})},
                        {"factor", tensor::Tensor::of<float>({2}, {3, 4})}});
        write(reference, {{"in.x", tensor::Tensor::of<float>({1, 2}, {1, 2})},
                          {"out.out", tensor::Tensor::of<float>({1, 2}, {3, 8})}});
        const Outcome outcome =
            runSonde({"check", "--allow-native", plugin("own_models.so"), reference, "--weights", weights});
        QVERIFY2(outcome.status == 0, qPrintable(outcome.out + outcome.err));
    }

    void errors_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("text");
        QTest::newRow("constructor throws") << "own_models.so#throws_when_made"
                                            << "no weights for you";
        QTest::newRow("forward throws") << "own_models.so#throws_when_called"
                                        << "not today";
        QTest::newRow("unknown model") << "own_models.so#scalde"
                                       << "did you mean scaled";
        QTest::newRow("other version") << "other_version.so"
                                       << "built for Sonde 0.0.1";
        QTest::newRow("missing symbol") << "missing_symbol.so"
                                        << "functionThatIsNowhere";
        QTest::newRow("no model in it") << "no_model.so"
                                        << "SONDE_MODEL";
        for (const char* model : {"", "#twin", "#single"})
            QTest::addRow("two of one name, %s", model)
                << QString("twin_models.so") + model << "two models named 'twin': classes First and Second";
        QTest::newRow("no such file") << "nothing.so#a"
                                      << "no such file";
    }
    void errors() {
        QFETCH(QString, file);
        QFETCH(QString, text);
        const Outcome outcome = runSonde({"trace", "--allow-native", plugin(file)});
        QCOMPARE(outcome.status, 3);
        QVERIFY2(outcome.err.contains("sonde: error: ") && outcome.err.contains(text), qPrintable(outcome.err));
        QVERIFY(outcome.out.isEmpty());
    }

    /// `throw 5` and std::exception, in the forward of the root or of a module, in signatures and constructors.
    void codeThatThrows_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QString>("tracer");
        QTest::addColumn<int>("status");
        QTest::addColumn<QString>("text");
        for (const char* tracer : {"", "module-path", "traced-module", "custom"}) {
            QTest::addRow("root, %s", tracer)
                << "throws_an_int" << tracer << 3 << "int: thrown by the model's own code";
            QTest::addRow("signature, %s", tracer) << "no_signature" << tracer << 3 << "no parameters today";
            QTest::addRow("child without a name, %s", tracer) << "nameless_child" << tracer << 3 << "cannot be empty";
            const bool isAbsorbed = *tracer == 0;
            QTest::addRow("module, %s", tracer)
                << "nested" << tracer << (isAbsorbed ? 0 : 3) << (isAbsorbed ? "" : "(bad, class Bad)");
        }
        QTest::newRow("root, robust") << "throws_an_int"
                                      << "robust" << 0 << "";
        QTest::newRow("module, robust") << "nested"
                                        << "robust" << 0 << "";
        QTest::newRow("signature, robust") << "no_signature"
                                           << "robust" << 3 << "no parameters today";
    }
    void codeThatThrows() {
        QFETCH(QString, model);
        QFETCH(QString, tracer);
        QFETCH(int, status);
        QFETCH(QString, text);
        QStringList arguments{"trace", "--allow-native", plugin("throwing_models.so#" + model)};
        if (!tracer.isEmpty()) arguments << "--tracer" << tracer;
        const Outcome outcome = runSonde(arguments);
        QVERIFY2(outcome.status == status && outcome.err.contains(text),
                 qPrintable(QString::number(outcome.status) + outcome.out + outcome.err));
        if (status == 0)
            QCOMPARE(
                runSonde({"run", "--allow-native", plugin("throwing_models.so#" + model), "--tracer", "robust"}).status,
                4);
    }

    /// try { child } catch (int) { 3 x } catch (...) { 4 x } is 3 x whoever traces it.
    void handlersSeeWhatWasThrown_data() { tracers(); }
    void handlersSeeWhatWasThrown() {
        const Outcome outcome = runWith("handles", "[1,2,3,4]");
        QVERIFY2(outcome.status == 0 && outcome.out.contains("min 3 ") && outcome.out.contains("max 12 "),
                 qPrintable(outcome.out + outcome.err));
    }

    /// 2^49 bytes: std::bad_alloc, which is an error of the model as any other.
    void memoryThatIsNotThere_data() { tracers(); }
    void memoryThatIsNotThere() {
        const Outcome outcome = runWith("too_much", "[1,2,3,4]");
        if (endsWhereNewThrows(outcome)) return;
        QVERIFY2((outcome.status == 3 || outcome.status == 4) && outcome.err.contains("out of memory"),
                 qPrintable(QString::number(outcome.status) + outcome.err));
    }

    /// [new.delete]: handlers are asked, nothrow gives null, alignments are kept.
    void operatorNewIsThatOfTheStandard() {
        const Outcome outcome =
            runSonde({"run", "--allow-native", plugin("throwing_models.so#allocations"), "--input-data", "[1,2,3,4]"});
        if (endsWhereNewThrows(outcome)) return;
        QVERIFY2(outcome.status == 0 && outcome.out.contains("min 1 ") && outcome.out.contains("max 1 "),
                 qPrintable(outcome.out + outcome.err));
    }

    /// A hierarchy that a forward makes endless is told (or the model runs as one call), and nobody follows it.
    void aForwardThatMakesACircle_data() { tracers(); }
    void aForwardThatMakesACircle() {
        QFETCH(QString, tracer);
        const Outcome outcome = runWith("its_own_child", "[1,2,3,4]");
        const bool isOpaque = tracer.isEmpty() || tracer == "robust";
        QVERIFY2(outcome.status == (isOpaque ? 0 : 3), qPrintable(QString::number(outcome.status) + outcome.err));
        if (isOpaque)
            QVERIFY2(outcome.out.contains("min 2 ") && outcome.out.contains("max 5 "), qPrintable(outcome.out));
    }

    /// What throws only when it runs: the run fails at that node.
    void aRunThatThrows() {
        const Outcome outcome = runSonde({"run", "--allow-native", plugin("throwing_models.so#in_the_run")});
        QCOMPARE(outcome.status, 4);
        QVERIFY2(outcome.err.contains("'bad'") && outcome.err.contains("int: thrown by the model's own code"),
                 qPrintable(outcome.err));
    }

    void anInputThatMayBeLeftOut() {
        QTemporaryDir folder;
        const QString reference = folder.filePath("reference.npz");
        const auto x = tensor::Tensor::of<float>({4}, {1, 2, 3, 4});
        write(reference, {{"in.x", x}, {"out.out", tensor::Tensor::of<float>({4}, {2, 4, 6, 8})}});
        for (const char* tracer : {"robust", "traced-module"}) {
            const Outcome outcome = runSonde(
                {"check", "--allow-native", plugin("throwing_models.so#optional_mask"), reference, "--tracer", tracer});
            QVERIFY2(outcome.status == 0, qPrintable(tracer + outcome.out + outcome.err));
        }
        const Outcome automatic =
            runSonde({"check", "--allow-native", plugin("throwing_models.so#optional_mask"), reference});
        QVERIFY2(automatic.status == 0, qPrintable(automatic.out + automatic.err));
        // fx takes every parameter for given; the way to say otherwise is told.
        const Outcome symbolic =
            runSonde({"run", "--allow-native", plugin("throwing_models.so#optional_mask"), "--tracer", "module-path"});
        QVERIFY2(symbolic.err.contains("--concrete mask=None"), qPrintable(symbolic.err));
        const Outcome concrete = runSonde({"check", "--allow-native", plugin("throwing_models.so#optional_mask"),
                                           reference, "--tracer", "module-path", "--concrete", "mask=None"});
        QVERIFY2(concrete.status == 0, qPrintable(concrete.out + concrete.err));
        write(reference, {{"in.x", x}, {"in.mask", x}, {"out.out", tensor::Tensor::of<float>({4}, {3, 6, 9, 12})}});
        for (const char* tracer : {"robust", "traced-module", "module-path", "custom"}) {
            const Outcome given = runSonde(
                {"check", "--allow-native", plugin("throwing_models.so#given_mask"), reference, "--tracer", tracer});
            QVERIFY2(given.status == 0, qPrintable(tracer + given.out + given.err));
        }
        const Outcome given = runSonde({"check", "--allow-native", plugin("throwing_models.so#given_mask"), reference});
        QVERIFY2(given.status == 0, qPrintable(given.out + given.err));
    }

    /// A forward of one parameter takes the declared name and shape; a name of no parameter is told.
    void declaredInputs() {
        const Outcome info = runSonde({"info", "--allow-native", plugin("own_models.so#unnamed")});
        QVERIFY2(info.out.contains("x: float32[4]"), qPrintable(info.out));
        QTemporaryDir folder;
        const QString reference = folder.filePath("reference.npz");
        write(reference, {{"in.x", tensor::Tensor::of<float>({4}, {1, -2, 0, 4})},
                          {"out.out", tensor::Tensor::of<float>({4}, {3, -6, 0, 12})}});
        for (const char* tracer : {"module-path", "traced-module", "robust", "custom"}) {
            const Outcome outcome =
                runSonde({"check", "--allow-native", plugin("own_models.so#unnamed"), reference, "--tracer", tracer});
            QVERIFY2(outcome.status == 0, qPrintable(tracer + outcome.out + outcome.err));
        }
        const Outcome misnamed = runSonde({"info", "--allow-native", plugin("own_models.so#misnamed")});
        QVERIFY2(misnamed.err.contains("SONDE_MODEL declares the input 'z', which is no parameter of forward"),
                 qPrintable(misnamed.err));
    }

    /// Traced with two rows, run with four; x > 0 ? 1 : 2 of two numbers is float32.
    void otherSizesThanTheTraced() {
        QTemporaryDir folder;
        const QString reference = folder.filePath("reference.npz");
        write(reference, {{"in.x", tensor::Tensor::of<float>({4, 2}, {1, -1, 0, 2, 3, -3, -4, 4})},
                          {"out.out", tensor::Tensor::of<float>({2, 4}, {1, 2, 2, 1, 1, 2, 2, 1})}});
        for (const char* tracer : {"module-path", "traced-module", "robust", "custom"}) {
            const Outcome outcome = runSonde(
                {"check", "--allow-native", plugin("throwing_models.so#pairs"), reference, "--tracer", tracer});
            QVERIFY2(outcome.status == 0, qPrintable(tracer + outcome.out + outcome.err));
        }
    }

    void notesAreReadWithoutRunningAnything() {
        const auto entries = notesOf(contentOf(plugin("own_models.so")));
        QCOMPARE(entries.size(), 6U);
        QCOMPARE(entries[0].model, std::string("scaled"));
        QCOMPARE(entries[0].className, std::string("Scaled"));
        QVERIFY(notesOf(contentOf(plugin("no_model.so"))).empty());
        QCOMPARE(notesOf(contentOf(plugin("other_version.so"))).size(), 1U);
    }

    /// A note is read as it is in the file or not at all.
    void filesThatAreCutOffHaveWholeNotesOrNone() {
        const QByteArray whole = contentOf(plugin("other_version.so"));
        int without = 0, with = 0;
        for (qsizetype size = 0; size <= whole.size(); size += size < whole.size() - 61 ? 61 : 1) {
            const auto entries = notesOf(whole.left(size));
            // What was there in a shorter file is there in a longer one.
            QVERIFY2(entries.size() <= 1 && (with == 0 || !entries.empty()), qPrintable(QString::number(size)));
            ++(entries.empty() ? without : with);
            if (entries.empty()) continue;
            QCOMPARE(entries[0].abi, std::string("Sonde 0.0.1, libstdc++ 5 cxx11=0"));
            QCOMPARE(entries[0].model, std::string("old"));
            QCOMPARE(entries[0].className, std::string("Old"));
        }
        QVERIFY2(without > 0 && with > 0, qPrintable(QString("%1 without, %2 with").arg(without).arg(with)));
    }

    /// Nobody can catch it: the program ends, and says which library it was.
    void initialisationThatThrowsIsNamed() {
        const Outcome outcome = runSonde({"trace", "--allow-native", plugin("throwing_initialisation.so")});
        QVERIFY2(outcome.status == 4 && outcome.err.contains("throwing_initialisation.so") &&
                     outcome.err.contains("initialisation of the library"),
                 qPrintable(QString::number(outcome.status) + outcome.err));
    }

    /// The dynamic loader would map what is not there: SIGBUS, as with a copy that has not ended.
    void librariesThatAreCutOffAreRefused() {
        const QByteArray whole = contentOf(plugin("own_models.so"));
        const QString path = m_folder->filePath("cut.so");
        for (const qsizetype size : {qsizetype{63}, qsizetype{64}, qsizetype{1000}, qsizetype{3000}, whole.size() / 2,
                                     whole.size() - 4096, whole.size() - 1}) {
            QFile file(path);
            QVERIFY(file.open(QIODevice::WriteOnly));
            QCOMPARE(file.write(whole.left(size)), size);
            file.close();
            const Outcome outcome = runSonde({"trace", "--allow-native", path});
            QVERIFY2(outcome.status == 3 && outcome.err.contains("cut.so"),
                     qPrintable(QString("%1 bytes: %2 %3").arg(size).arg(outcome.status).arg(outcome.err)));
        }
    }

    /// Nothing is read from outside of the file (sanitizers see that), and no text that is not in it.
    void damagedFilesDoNoHarm() {
        const QByteArray whole = contentOf(plugin("other_version.so"));
        quint32 state = 1;
        int unharmed = 0, changed = 0, without = 0;
        for (int round = 0; round < 3000; ++round) {
            QByteArray broken = whole;
            for (int i = 0; i < 4; ++i) {
                state = state * 1664525 + 1013904223;  // Numerical Recipes' generator
                const qsizetype place = static_cast<qsizetype>(state >> 8) % (i < 3 ? 1024 : broken.size());
                broken[place] = static_cast<char>(state);
            }
            const auto entries = notesOf(broken);
            for (const document::PluginEntry& entry : entries)
                for (const std::string& text : {entry.abi, entry.model, entry.className})
                    QVERIFY2(broken.contains(QByteArray::fromStdString(text)), qPrintable(QString::number(round)));
            const bool isAsItWas = entries.size() == 1 && entries[0].abi == "Sonde 0.0.1, libstdc++ 5 cxx11=0" &&
                                   entries[0].model == "old" && entries[0].className == "Old";
            ++(entries.empty() ? without : isAsItWas ? unharmed : changed);
        }
        // Three of the four bytes are in the first kilobyte: the headers, and the note itself.
        const QString counts = QString("%1 unharmed, %2 changed, %3 without").arg(unharmed).arg(changed).arg(without);
        QVERIFY2(unharmed > 0 && without > 0 && unharmed + changed + without == 3000, qPrintable(counts));
    }

  private:
    static void tracers() {
        QTest::addColumn<QString>("tracer");
        for (const char* tracer : {"", "module-path", "custom", "robust", "traced-module"})
            QTest::newRow(*tracer ? tracer : "default") << tracer;
    }
    static Outcome runWith(const QString& model, const QString& input) {
        QFETCH(QString, tracer);
        QStringList arguments{"run", "--allow-native", plugin("throwing_models.so#" + model), "--input-data", input};
        if (!tracer.isEmpty()) arguments << "--tracer" << tracer;
        return runSonde(arguments);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    QString m_trace;

    static void write(const QString& path, const std::vector<std::pair<std::string, tensor::Tensor>>& arrays);
};

void TestPlugin::write(const QString& path, const std::vector<std::pair<std::string, tensor::Tensor>>& arrays) {
    std::vector<io::NamedTensor> named;
    for (const auto& [name, tensor] : arrays) named.push_back({name, tensor});
    QVERIFY(io::writeNpz(path.toStdString(), named).has_value());
}

QTEST_GUILESS_MAIN(TestPlugin)

}  // namespace tst_plugin

#include "tst_plugin.moc"

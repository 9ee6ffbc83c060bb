#pragma once

#include <QtTest>

#include <string>

#ifdef QT_WIDGETS_LIB
#include <QApplication>
#endif

// One program holds the tests of a folder: linking and starting a hundred programs took longer than compiling them.
// Qt's macros that would define main() enter their test into the program instead; it runs under the name of its file.
// This header is precompiled and comes before everything else in each test (tests/CMakeLists.txt).

/// How a comparison that fails shows text.
template <>
inline char* QTest::toString(const std::string& text) {
    return qstrdup(text.c_str());
}

namespace sonde::tests {

/// Runs a test with the arguments of a program; the exit status.
using RunTest = int (*)(int argc, char** argv);

/// Enters the test of a source file, tst_NAME.cpp, as tst_NAME.
class Entry {
  public:
    Entry(const char* sourceFile, RunTest run);
};

template <typename Test, typename Application>
int runTest(int argc, char** argv) {
    Application application(argc, argv);
#ifdef QT_WIDGETS_LIB
    application.setAttribute(Qt::AA_Use96Dpi, true);
#endif
    Test test;
    return QTest::qExec(&test, argc, argv);
}

template <typename Test>
int runPlainTest(int argc, char** argv) {
    Test test;
    return QTest::qExec(&test, argc, argv);
}

}  // namespace sonde::tests

/// For a test with a main of its own: `run` is as main().
#define SONDE_TEST_RUN(run) static const ::sonde::tests::Entry entryOfThisFile(__FILE__, run);

#undef QTEST_MAIN
#undef QTEST_GUILESS_MAIN
#undef QTEST_APPLESS_MAIN
#ifdef QT_WIDGETS_LIB
#define QTEST_MAIN(Test) \
    static const ::sonde::tests::Entry entryOf##Test(__FILE__, ::sonde::tests::runTest<Test, QApplication>);
#else
#define QTEST_MAIN(Test) QTEST_GUILESS_MAIN(Test)
#endif
#define QTEST_GUILESS_MAIN(Test) \
    static const ::sonde::tests::Entry entryOf##Test(__FILE__, ::sonde::tests::runTest<Test, QCoreApplication>);
#define QTEST_APPLESS_MAIN(Test) \
    static const ::sonde::tests::Entry entryOf##Test(__FILE__, ::sonde::tests::runPlainTest<Test>);

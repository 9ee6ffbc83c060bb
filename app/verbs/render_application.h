#pragma once

#include <QGuiApplication>

#include <memory>

namespace sonde::app {

/// What painting and fonts need in a program without a display.
class OffscreenApplication {
  public:
    OffscreenApplication();

  private:
    int m_count = 1;
    char m_name[6] = "sonde";
    char* m_arguments[2] = {m_name, nullptr};  ///< as Qt wants them: kept as long as the application
    std::unique_ptr<QGuiApplication> m_application;
};

}  // namespace sonde::app

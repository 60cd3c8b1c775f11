from openset._command import main

main()
